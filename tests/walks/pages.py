"""The needs of each page for its commands to run here. A page that is not here is run by a test of its own."""

from collections.abc import Mapping

from tests.documented import DOCS
from tests.walks import stand_ins as s
from tests.walks.place import RECEIVER, Walk

FIT = {"doctor": (3,)}
"""This host may not be fit to measure, and then says so."""
JUDGED = (1,)
"""Something may be slower, or nothing shown."""
QUIET = (("run", "--extra-repeats", "0"), ("regress", "--extra-repeats", "0"))
"""A host of tests is never quiet, and what is disturbed would be measured again."""
TWO = s.matrix("[mxnet==1.9.1, torch==2.13.0]")
HOSTS = s.stored("hosts")
TEST = "20260301T030405Z-slower"
NIGHTS = ("20260418T030405Z-0012", "20260419T030405Z-0013", "20260420T030405Z-0014")
KEPT = tuple(str(DOCS / "studies" / f"{name}-smoke.tar.zst") for name in ("anu-2019", "sktelecom-2018"))
"""Runs of studies that are kept in the repository."""
ON_TERMINAL = "$TERMINAL/orchestrator init"
"""It is asked there, and answered."""

WALKS: Mapping[str, Walk] = {
    "README.md": Walk(s.matrix("[mxnet==1.5.1, mxnet==1.9.1, torch==2.13.0]"), FIT, QUIET),
    "CONTRIBUTING.md": Walk(
        s.several(TWO, s.folder("docs/schemas"), s.study("studies/small.yaml")),
        instead={"MATRIX": "matrix.yaml", "--mode NAME": "--mode infer", "-k NAME": "-k lenet", "'NAME-*'": "'torch-*'",
                 "studies/NAME": "studies/small", "benchmarks.run NAME": "benchmarks.run lenet", "BUILDER": "noop"},
        further=QUIET,
        sections=("Write documentation", "Add a model", "Add a framework", "Add a mode", "Add a study", "Dependencies"),
    ),
    "docs/ci.md": Walk(s.foreign(before="hyperfine-1.15.0-before", after="hyperfine-1.15.0-again")),
    "docs/command-line.md": Walk(
        s.completions, instead={"orchestrator init\n": f"{ON_TERMINAL}\n"}
    ),
    "docs/data.md": Walk(
        s.several(HOSTS, s.stored("hosts", "srv/results")), instead={"/srv/results": "srv/results"}
    ),
    "docs/datasets/kinds.md": Walk(
        s.several(s.small_datasets, s.originals), sections=("Words, characters, photographs",)
    ),
    "docs/datasets/own.md": Walk(
        s.of_page("datasets/own.md", 1, "matrix.yaml"),
        exits={"data mnist cifar10": (2,), "data -f matrix.yaml --data data --stand-in": ()},
    ),
    "docs/engines.md": Walk(exits=FIT, instead={"unix:///run/podman": "unix://$HOME/podman"}),
    "docs/generate.md": Walk(
        s.matrix("[torch==2.13.0]", "[{name: decoder, batch_size: 1, prompt_length: 4, output_length: 4}]",
                 "modes: generate\n", "generation.yaml"),
        exits={"regress": JUDGED}, further=QUIET, instead={"decoder --framework torch": "decoder --framework noop"},
    ),
    "docs/host.md": Walk(exits=FIT),
    "docs/interchange.md": Walk(
        s.several(
            HOSTS,
            s.foreign(before="pyperf-2.11.0-before", after="pyperf-2.11.0-again"),
            s.foreign(**{f"{side}{number}": f"google-benchmark-1.7.1-{'before' if side == 'a' else 'again'}"
                         for side in "ab" for number in (1, 2, 3)}),
            s.both_of_hyperfine, s.mlflow, s.folder("exporter"),
        ),
        exits={"compare": JUDGED},
        instead={"/var/lib/node_exporter": "exporter", "http://localhost:4318": RECEIVER},
    ),
    "docs/kubernetes.md": Walk(s.several(TWO, s.of_page("kubernetes.md", 0, "k8s.yaml"))),
    "docs/matrix.md": Walk(instead={"orchestrator init ": f"{ON_TERMINAL} "}),
    "docs/matrix/plan.md": Walk(s.several(s.matrix("[torch==2.13.0]"), HOSTS)),
    "docs/nightly.md": Walk(
        s.several(
            s.matrix("[mxnet==1.9.1]"), s.of_page("nightly.md", 0, "nightly.yaml", "first:"),
            s.added("nightly.yaml", "first: 1.6.0\nmax_blocks: 2\n"),
        ),
        exits={"nightly": JUDGED}, further=QUIET,
    ),
    "docs/nightly/alarms.md": Walk(
        s.several(s.matrix("[mxnet==1.9.1]"), s.nightly, s.alarms("1.6.0", "1.7.0", "1.8.0"))
    ),
    "docs/nightly/history.md": Walk(
        s.several(s.stored("nights"), s.moved("results/acknowledged.yaml", "acknowledged.yaml"))
    ),
    "docs/nightly/watch.md": Walk(s.several(s.matrix("[mxnet==1.9.1]"), s.nightly, s.alarms("1.6.0"))),
    "docs/offline/bundle.md": Walk(
        s.copied(KEPT[0], "stick/results.tar.zst"), instead={"$STICK": "stick"}, sections=("The file of results",)
    ),
    "docs/queries.md": Walk(HOSTS),
    "docs/regression.md": Walk(TWO, exits={"regress": JUDGED}, further=QUIET),
    "docs/regression/package.md": Walk(s.matrix("[mxnet==1.9.1]"), exits={"regress": JUDGED}, further=QUIET),
    "docs/regression/stored-runs.md": Walk(
        s.several(
            s.stored("nights"), s.stored(f"regressions/{TEST}", f"results/{TEST}"),
            s.foreign(before="pytest-benchmark-5.3.1-before", after="pytest-benchmark-5.3.1-again"),
        ),
        exits={"compare": JUDGED},
        instead={"TEST": TEST, "A,B,C:": f"{','.join(NIGHTS)}:", "RUN": NIGHTS[0], "OTHER": NIGHTS[1],
                 "mxnet==1.5.1": "mxnet==1.4.1"},
    ),
    "docs/report.md": Walk(s.several(HOSTS, TWO), further=QUIET, instead={" RUN": " 20260201T030405Z-0000"}),
    "docs/report/until-decided.md": Walk(TWO, further=QUIET),
    "docs/serving/anonymise.md": Walk(
        s.networks, exits={"anonymise": JUDGED}, further=(("anonymise", "--repeats", "2"),)
    ),
    "docs/study-files.md": Walk(
        s.study("studies/small.yaml"), further=QUIET,
        instead={"sktelecom-2018": "small", "results/one results/two -o FILE": f"{' '.join(KEPT)} -o page.md"},
    ),
    "docs/site.md": Walk(s.several(HOSTS, s.stored("nightly", "nightly"))),
    "docs/your-model.md": Walk(
        s.several(s.of_page("your-model.md", 0, "ours.yaml"), s.small("ours.yaml")),
        exits={"anonymise": JUDGED, "bisect": JUDGED, "regress": JUDGED}, further=QUIET,
        sections=("The network", "Which engine is faster", "Is it safe to upgrade", "A file that others may see"),
    ),
}  # fmt: skip
"""By page, in the order of the alphabet."""
