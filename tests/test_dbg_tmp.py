from tests.test_cli_compaction import *
@a_file
def test_dbg(run, marked):
    print(run("show","chat").stdout); print(run("overlays","chat").stdout); print(run("overlays","chat",ids(marked)["summary"]).stdout); print(run("show","chat","--tree").stdout)
    print(run("compact","chat",*SMALL,"--yes").stdout)
    assert 0
