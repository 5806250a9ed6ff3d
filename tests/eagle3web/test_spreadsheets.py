import csv
import io

from eagle3web.spreadsheets import lines


def test_formulas_become_text_and_numbers_stay() -> None:
    text = "".join(lines([["=1+1", "+1", "-1", "@A1", "\t=1", "\uff1d1", -1, 'a,"b"', "safe"]]))
    (row,) = csv.reader(io.StringIO(text))
    assert row == ["'=1+1", "'+1", "'-1", "'@A1", "'\t=1", "'\uff1d1", "-1", 'a,"b"', "safe"]
