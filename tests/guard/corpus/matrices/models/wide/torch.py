"""A definition of its own."""


def start(workload):
    return Session()


class Session:
    batches = (None,)
    parameters = 64 * 256 + 256 + 2560 + 10

    def step(self, batch):
        pass

    synchronise = fetch = step

    def loss(self, handle):
        return 0.5
