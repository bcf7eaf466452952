"""What is kept of a matter: stored, found by words and filters, and held against its source."""

import time

import archive_papers as papers
from archive_http import CASE, NOBODY
from archive_papers import CORRUPTED, FAITHFUL

TESTS = ["opinion_drift", "bias", "honesty", "ten_rules", "fact_check"]


def asked(tally, ann, kept, ends):
    """Keywords, filters, sorts and pages over what is kept."""
    file_id = kept["brief.pdf"].get("fileId", "none")
    made = ends["brief.pdf"].get("result", {}).get("insights", [])
    everything = {"limit": 100}
    of_file = ann.query("by file", {"fileId": file_id}, None, everything)
    tally.check("by file: all of it", of_file.get("total") == len(made), of_file.get("total"))
    stored = {}
    for name, insight in [("faithful", FAITHFUL), ("corrupted", CORRUPTED)]:
        ask = {"fileId": file_id, "insight": {**insight, "category": "note"}}
        answer = ann.good(f"store a {name} one", "store_insight", "POST", "insights", ask)
        stored[name] = answer.get("insightId", "none")
        found = ann.query(f"find the {name} one", {"keywords": f'"{insight["title"]}"'})
        ids = [it["insightId"] for it in found.get("insights", [])]
        tally.check(f"the {name} one is found at once", stored[name] in ids, found)
    quoted = {**FAITHFUL, "quote": f"The contract price was {papers.PRICE}", "category": "quote"}
    ask = {"fileId": file_id, "insight": quoted}
    answer = ann.good("store with a quote", "store_insight", "POST", "insights", ask)
    sources = answer.get("sources", [])
    right = sources and sources[0]["quote"] == quoted["quote"] and sources[0]["page"] == 2
    tally.check("the quote's place is found", right, answer)
    stored["quoted"] = answer.get("insightId", "none")
    filtered(tally, ann, file_id, stored)
    sorted_and_paged(tally, ann, file_id, len(made) + 3)
    return stored


def filtered(tally, ann, file_id, stored):
    def ids(label, **filters):
        found = ann.query(label, filters, None, {"limit": 100})
        insights = found.get("insights", [])
        total = found.get("total")
        tally.check(f"{label}: the total is exact", total == len(insights), total)
        return {it["insightId"] for it in insights}, insights

    faithful, corrupted = stored["faithful"], stored["corrupted"]
    both = {faithful, corrupted}
    found, insights = ids("two words", keywords="complaint price", category="note")
    tally.check("two words: both are found", found == both, found)
    marked = all("**" in it.get("snippet", "") for it in insights)
    tally.check("two words: snippets are marked", bool(insights) and marked, insights)
    found, _ = ids("a word that is in one", keywords="wrongly", category="note")
    tally.check("a word that is in one: it alone", found == {corrupted}, found)
    found, _ = ids("a phrase", keywords='"price was $48,500.00"', category="note")
    tally.check("a phrase: the one that has it", found == {faithful}, found)
    found, _ = ids("words of no insight", keywords="complaint zeppelin")
    tally.check("words of no insight: nothing", found == set(), found)
    found, _ = ids("a beginning", keywords="compl*", category="note")
    tally.check("a beginning: both are found", found == both, found)
    found, _ = ids("by model", sourceLLM="gpt-4")
    tally.check("by model: the one it wrote", found == {corrupted}, found)
    found, _ = ids("by two tags", tags=["pleadings", "contract"], category="note")
    tally.check("by two tags: who has both", found == {faithful}, found)
    found, _ = ids("by confidence", minConfidence=0.5, category="note")
    tally.check("by confidence: the surer one", found == {faithful}, found)
    found, _ = ids("by case", caseId=CASE, category="note")
    tally.check("by case: the file's case", found == both, found)
    found, _ = ids("a case nobody has", caseId="Nobody v. Nothing")
    tally.check("a case nobody has: nothing", found == set(), found)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
    found, _ = ids("since an hour ago", dateRange={"start": now}, category="note")
    tally.check("since an hour ago: both", found == both, found)
    found, _ = ids("until an hour ago", dateRange={"end": now})
    tally.check("until an hour ago: nothing", found == set(), found)
    for odd in ['"open', "AND OR NOT", "a (b", "*", "^$", "col:umn", "-", "'; DROP TABLE", "😀"]:
        ids(f"keywords {odd!r}", keywords=odd)
    bad = {
        "a limit of 0": {"pagination": {"limit": 0}},
        "a limit of 101": {"pagination": {"limit": 101}},
        "an offset below 0": {"pagination": {"offset": -1}},
        "an unknown sort": {"sort": {"field": "title"}},
        "a confidence of 2": {"filters": {"minConfidence": 2}},
        "a day that is none": {"filters": {"dateRange": {"start": "2024-02-31"}}},
        "keywords that are no text": {"filters": {"keywords": 7}},
    }
    for what, ask in bad.items():
        ann.refused(f"query with {what}", "INVALID_INPUT", "POST", "insights/query", ask)
    untitled = {key: value for key, value in FAITHFUL.items() if key != "title"}
    title = {"fileId": file_id, "insight": untitled}
    ann.refused("storing without a title", "INVALID_INPUT", "POST", "insights", title)
    sure = {"fileId": file_id, "insight": {**FAITHFUL, "confidence": 1.5}}
    ann.refused("storing more than sure", "INVALID_INPUT", "POST", "insights", sure)
    lost = {"fileId": NOBODY, "insight": FAITHFUL}
    ann.refused("storing for no file", "FILE_NOT_FOUND", "POST", "insights", lost)


def sorted_and_paged(tally, ann, file_id, total):
    values = {"createdAt": lambda it: it["createdAt"], "confidence": lambda it: it["confidence"]}
    for field, value in values.items():
        for order in ["asc", "desc"]:
            label = f"sorted by {field}, {order}"
            sort = {"field": field, "order": order}
            found = ann.query(label, {"fileId": file_id}, sort, {"limit": 100})
            row = [value(it) for it in found.get("insights", [])]
            tally.check(label, row == sorted(row, reverse=order == "desc") and row, row)
    best = ann.query("by relevance", {"keywords": "complaint"}, {"field": "relevance"})
    tally.check("by relevance: something", best.get("total", 0) > 0, best)
    walked, sort = [], {"field": "confidence", "order": "desc"}
    for offset in range(0, total + 7, 7):
        page = {"limit": 7, "offset": offset}
        found = ann.query(f"page from {offset}", {"fileId": file_id}, sort, page)
        walked += [it["insightId"] for it in found.get("insights", [])]
        counted = found.get("total")
        tally.check(f"page from {offset}: the total", counted == total, counted)
        more = found.get("pagination", {}).get("hasMore")
        tally.check(f"page from {offset}: more or not", more is (offset + 7 < total), found)
    tally.check("the pages have everything once", len(walked) == len(set(walked)) == total, walked)


def tested(tally, ann, kept, stored):
    """Five tests without a model; the faithful passes and the corrupted fails."""
    file_id = kept["brief.pdf"].get("fileId", "none")
    ask = lambda **fields: ("POST", "integrity", {"llmSource": "local", **fields})
    for test in TESTS:
        answer = ann.good(test, "integrity_test", *ask(testType=test, fileId=file_id))
        results = answer.get("results", {})
        tally.check(f"{test}: completed", answer.get("status") == "completed", answer)
        counts = [results.get(it, 0) for it in ("passed", "failed", "warnings")]
        tested = results.get("insightsTested", 0)
        tally.check(f"{test}: all are judged", sum(counts) == tested, results)
        tally.check(f"{test}: something is tested", tested > 3, results)
        scores = [it.get("score") for it in results.get("details", [])]
        in_range = scores and all(it is None or 0 <= it <= 1 for it in scores)
        tally.check(f"{test}: scores are from 0 to 1", in_range, scores)
        job = ann.good(f"{test}: by its id", "job_status", "GET", f"jobs/{answer.get('testId')}")
        same = job.get("result", {}).get("integrity", {}).get("insightsTested")
        tally.check(f"{test}: job_status tells the same", same == tested, job)
    for name, verdict in [("faithful", "passed"), ("quoted", "passed"), ("corrupted", "failed")]:
        answer = ann.good(
            f"fact_check of the {name}",
            "integrity_test",
            *ask(testType="fact_check", insightIds=[stored[name]]),
        )
        details = answer.get("results", {}).get("details", [{}])
        tally.check(f"the {name} one has {verdict}", details[0].get("status") == verdict, details)
        if verdict == "failed":
            tally.check("what is wrong is named", bool(details[0].get("issues")), details)
            tally.check("what to do is said", bool(details[0].get("recommendations")), details)
            tally.check("it scores below 0.5", details[0].get("score", 1) < 0.5, details)
    refuse = lambda what, **fields: ann.refused(what, "INVALID_INPUT", *ask(**fields))
    model = {"testType": "bias", "fileId": file_id, "llmSource": "no-such-model"}
    said = ann.refused("an unknown model", "INVALID_INPUT", "POST", "integrity", model)
    words = f"{said.get('message')} {said.get('details')}"
    tally.check("the models that are there are named", "local" in words, words)
    refuse("an unknown test", testType="charm", fileId=file_id)
    refuse("an unknown insight", testType="bias", insightIds=[NOBODY])
    lost = ask(testType="bias", fileId=NOBODY)
    ann.refused("a test of no file", "FILE_NOT_FOUND", *lost)
