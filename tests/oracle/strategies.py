"""Programs of the ranks by the kind of strategy, a generator each: what a rank computes, sends, holds and drops."""
from pipelines import pipeline_stage, SCHEDULES
from replicas import data_parallel, gossip, local_sgd, single
from servers import parameter_server
from sharded import FullySharded, zero

__all__ = ["PROGRAMS", "SCHEDULES", "pipeline_stage"]

PROGRAMS = {"single": single, "allreduce": data_parallel, "local_sgd": local_sgd, "gossip": gossip,
            "parameter_server": parameter_server, "zero": zero, "fsdp": lambda t, rank: FullySharded(t, rank).program()}
