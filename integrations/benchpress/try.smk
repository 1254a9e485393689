# Both modules on sampled rows, with stand-ins for Benchpress's path functions: snakemake -s try.smk -c 1
import subprocess, csv

RUN = "results/adjmat_estimate/adjmat=/lung/parameters=/none/data=/rows/algorithm=/"
ALGORITHM = "contextwise_learn/learner={learner}/parameters={parameters}/timeout={timeout}"
json_string = {
    "trees": ["contextwise_learn/learner=trees/parameters=penalty=5&min-count=10/timeout=None"],
    "late": ["contextwise_learn/learner=trees/parameters=none/timeout=0.001"],
}
config["benchmark_setup"] = [
    {
        "title": "try",
        "data": [{"graph_id": "lung", "parameters_id": "none", "data_id": "rows", "seed_range": [1, 2]}],
        "evaluation": {"contextwise_distance": {"ids": ["trees", "late"], "true_model": None}},
    }
]

def get_seed_range(ends): return range(ends[0], ends[1] + 1)
def gen_adjmat_string_from_conf(name, seed): return name
def gen_parameter_string_from_conf(name, seed): return name
def gen_data_string_from_conf(name, seed, seed_in_path=True): return name
def alg_input_data(): return "results/data/seed={seed}.csv"
def alg_output_adjmat_path(name): return RUN + ALGORITHM + "/seed={seed}/adjmat.csv"
def alg_output_time_path(name): return RUN + ALGORITHM + "/seed={seed}/time.txt"
def alg_output_ntests_path(name): return RUN + ALGORITHM + "/seed={seed}/ntests.txt"

rule all:
    input:
        "results/output/try/contextwise_distance/distances.csv",

rule rows:
    output:
        data="results/data/seed={seed}.csv",
    run:
        text = subprocess.run(
            ["contextwise", "sample", "lung", "-n", "1000", "--seed", wildcards.seed],
            check=True, capture_output=True, text=True,
        ).stdout
        names, *rows = csv.reader(text.splitlines())
        with open(output.data, "w", newline="") as file:
            coded = [[["no", "yes"].index(cell) for cell in row] for row in rows]
            csv.writer(file).writerows([names, [2] * len(names), *coded])

rule truth:
    output:
        "results/adjmat/lung.csv",
    run:
        with open(output[0], "w", newline="") as file:
            rows = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
            csv.writer(file).writerows([["smoker", "asbestos", "cancer"], *rows])

module_name = "contextwise_learn"
include: "contextwise_learn/rule.smk"
include: "contextwise_distance/rules.smk"
