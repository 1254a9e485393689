# The distance of every learned structure to the true one: one table per benchmark setup.
for bmark_setup in config["benchmark_setup"]:
    chosen = bmark_setup["evaluation"].get("contextwise_distance") or {}
    if not chosen.get("ids"):
        continue
    graphs, truths = [], []
    for setup in bmark_setup["data"]:
        for seed in get_seed_range(setup["seed_range"]):
            truth = gen_adjmat_string_from_conf(setup["graph_id"], seed)
            parameters = gen_parameter_string_from_conf(setup["parameters_id"], seed)
            data = gen_data_string_from_conf(setup["data_id"], seed, seed_in_path=False)
            for algorithm in (text for id in chosen["ids"] for text in json_string[id]):
                graphs.append(
                    f"results/adjmat_estimate/adjmat=/{truth}/parameters=/{parameters}/"
                    f"data=/{data}/algorithm=/{algorithm}/seed={seed}/adjmat.csv"
                )
                truths.append(f"results/adjmat/{truth}.csv")

    rule:
        name:
            f"contextwise_distance_{bmark_setup['title']}"
        input:
            graphs=graphs,
            truths=truths,
        output:
            table=f"results/output/{bmark_setup['title']}/contextwise_distance/distances.csv",
        params:
            true_model=chosen.get("true_model"),
        container:
            None
        script:
            "script.py"
