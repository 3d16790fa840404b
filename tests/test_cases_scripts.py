"""Kind B through both doors: every script is found without a setting. Forms and marks: rust/text/tests.rs."""

import pytest


@pytest.mark.parametrize(
    ("query", "first"), [("会議録", "memory/ja.md"), ("회의록", "memory/ko.md"), ("会议纪要", "memory/zh.md")]
)
def test_f015_words_in_unspaced_runs_are_found(ws, door, paths, query, first):
    ws.write("memory/ja.md", "昨日は図書館で会議録を整理した\n")
    ws.write("memory/ko.md", "내일 도서관에서 회의록을 정리한다\n")
    ws.write("memory/zh.md", "下周二在图书馆整理会议纪要\n")

    assert paths(door.search(query))[0] == first


@pytest.mark.parametrize(
    ("note", "query"),
    [
        pytest.param("服务器密码已轮换", "密码", id="f016"),
        pytest.param("东京的银行周一关门", "银行", id="f017-short"),
        pytest.param("东京的银行周一关门", "关", id="f017-single"),
        pytest.param("东京的银行周一关门", "东京的银行 周一", id="f017-mixed"),
        pytest.param("Jenkins 流水线昨晚部署超时", "Jenkins流水线超时", id="f018"),
        pytest.param("كِتَابُ المَوَاعِيد", "كتاب المواعيد", id="f022"),
    ],
)
def test_f016_f017_f018_f022_any_letter_is_a_word(ws, door, note, query):
    ws.write("memory/a.md", f"{note}\n")
    ws.write("memory/b.md", "something else\n")

    (hit,) = door.search(query)["results"]

    assert hit["path"] == "memory/a.md"
    assert hit["textScore"] > 0


def test_f019_a_near_copy_gives_way_in_every_script(ws, door, paths):
    ws.write("memory/a.md", "部署计划:先在测试环境验证数据库迁移脚本\n")
    ws.write("memory/b.md", "部署计划需要运维组周五晚上值班并准备回滚\n")
    ws.write("memory/c.md", "前端部署计划推迟到下个月,因为域名证书没到\n")
    ws.write("memory/d.md", "部署计划:先在测试环境验证数据库迁移脚本。\n")

    found = paths(door.search("部署计划", max_results=4))

    assert {"memory/b.md", "memory/c.md"} < set(found[:3])
    assert found[3] in ("memory/a.md", "memory/d.md")


def test_f023_a_snippet_ends_between_characters(ws, door):
    line = "x" * 699 + "🧭🧭 end"
    ws.write("memory/a.md", line)

    (hit,) = door.search("end")["results"]

    assert len(hit["snippet"]) <= 700
    assert hit["snippet"] in line
