"""Runs a file's tests in several processes, for tests that mostly wait: for leases, and for servers
to notice that another is silent.

The processes are forked when the tests are collected, so that modules are imported once. Each takes
the next test that none has, and sends its reports to the first process, which prints them as ever.
STRIA_TESTS_AT_ONCE says how many there are; fixtures of the session are made in each.
"""

import multiprocessing
import multiprocessing.connection
import os

from _pytest.runner import runtestprotocol

FORK = multiprocessing.get_context("fork")


def work(session, numbers, reports):
    """Runs tests until none is left."""
    config = session.config
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # The others have the same file.
    capture.start_global_capturing()
    while (number := numbers.get()) is not None:
        item = session.items[number]
        reports.send((number, None))
        # What the file's tests share stays until the end: another of them is said to come.
        done = runtestprotocol(item, nextitem=session.items[number - 1], log=False)
        reports.send((number, [config.hook.pytest_report_to_serializable(config=config, report=one) for one in done]))
    session._setupstate.teardown_exact(None)
    reports.send(None)


def tell(session, number, reports):
    item = session.items[number]
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for one in reports:
        report = session.config.hook.pytest_report_from_serializable(config=session.config, data=one)
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def pytest_runtestloop(session):
    count = min(int(os.environ.get("STRIA_TESTS_AT_ONCE", "1")), len(session.items))
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    numbers = FORK.SimpleQueue()
    for number in [*range(len(session.items)), *[None] * count]:
        numbers.put(number)
    told = []
    workers = []
    begun = {}
    for _ in range(count):
        ours, theirs = FORK.Pipe(duplex=False)
        workers.append(FORK.Process(target=work, args=(session, numbers, theirs), daemon=True))
        workers[-1].start()
        theirs.close()
        told.append(ours)
    while told:
        for one in multiprocessing.connection.wait(told):
            try:
                message = one.recv()
            except EOFError:
                raise RuntimeError(f"the process that ran {session.items[begun[one]].nodeid} has ended") from None
            if message is None:
                told.remove(one)
            elif message[1] is None:
                begun[one] = message[0]
            else:
                tell(session, *message)
    for worker in workers:
        worker.join()
    return True
