"""A fake session in place of a framework's, whose device holds so many samples of a batch and no more."""

DEFINITION = """from benchmarks.vocabulary import counting
OPTIONS = ()
class Limited:
    short_blocks, batches = True, (None,)
    def step(self, batch): {step}
    def synchronise(self, handle): pass
    def fetch(self, handle): return None
    def loss(self, handle): return 1.0
    def device_in_use(self): return "a fake GPU"
    def facts(self): {facts}
    def peak_device_bytes(self): return self.bytes
def start(workload):
    if workload.batch_size > {limit}:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")
    session = Limited()
    session.bytes = 1000 * workload.batch_size
    session.parameters = counting.parameters(workload.layers)
    return session
"""


def definition(limit: int | str, step: str = "pass", facts: str = "return {'device': 'a fake GPU'}") -> str:
    """Return a framework's own definition of a model: a number or an expression limits it, and its methods do this."""
    return DEFINITION.format(limit=limit, step=step, facts=facts)
