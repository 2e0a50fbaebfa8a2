"""Words that parsers trip over, by where they stand."""

from __future__ import annotations

TOKENS = [
    b'"', b"'", b",", b";", b"\t", b"|", b"\r", b"\n", b"\r\n", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff",
    b"\xe2\x80\xa8", b"\xc3", b"\xed\xa0\x80", b"\x1a", b" ", b"*", b"[", b"]", b"{", b"}", b"(", b")", b"\\", b"=",
    b"-", b"NaN", b"inf", b"-inf", b"null", b"true", b"NA", b"1e999", b"5e-324", b"-0.0", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
    b"340282366920938463463374607431768211456", b"0000-00-00", b"9999-12-31", b"10000-01-01", b"-0001-01-01",
    b"2020-02-30", b"1970-01-01T00:00:00.000000001", b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh9", b"\x28\xb5\x2f\xfd",
    b"PAR1", b"ARROW1\x00\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"../", b"/", b"''",
    b'""', b"--", b"/*", b"#", b"[[", b"'''",
]  # fmt: skip
CELLS = [
    "", " ", "*", "NA", "?", "nan", "inf", "-inf", "null", "0", "-0", "-0.0", "1e308", "1e309", "5e-324", "0x10",
    "1_000", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 40,
    "0007", "1,5", "2020-02-30", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01",
    "2020-01-01T00:00:00.000000001", "24:00:00", "2020-01-01 00:00:00+25:00", "=1+1", "@SUM(A1)", "[1, 2]", "[2, 1]",
    "[1, 1]", "[, ]", "[1,2", "1, 2]", "[]", "[*, *]", "[nan, inf]", "[-inf, inf]", "[1e400, 2]",
    "[1, 9223372036854775808]", "[0001-01-01, 9999-12-31]", "{a, b}", "{}", "[2020-01-01, 10000-01-01]", "[a, b]",
    "true", "é", "\u202e", "\ud7ff", "\U0001f600", "e\u0301", "\u0661\u0662", "1\u00a0000", "\ufeff", "\u2028",
    "\x0b", "\x1c", "\x85", 'a"b', "a'b", "'a'", '"', "'", "a\nb", "a\rb", "a,b", "a;b", "y" * 3000,
]  # fmt: skip
NUMBERS = [
    0, -1, 1, 2, 1 << 31, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, -(1 << 63) - 1, 1 << 64, 10**40, 10**400, 0.5, -0.0,
    1e308, 5e-324, -1.5,
]  # fmt: skip
TOML_VALUES = [
    "1", "-1", "0", "0.0", "nan", "inf", "-inf", "1e300", "9223372036854775807", "9223372036854775808", "1" * 400,
    "true", "[]", "{}", "[1, 2]", '["a"]', "[nan, inf]", "[2020-01-01, 2021-01-01]", "[10, -10]", '["a", "b"]',
    "2020-01-01", '""', "2020-01-01T00:00:00Z", '"x"', '"../town.csv"', '"town.csv"', '"."', '"a\\u0000b"',
    '"symmetric"', '"quasi-identifier"', '"sensitive"', '"kept"', '"numeric"', '"date"', '"datetime"', '"real"',
    '"integer"', '"categorical"', '"basic"', '"mondrian"', '"perturb"', '"baseline"', '"sabre"', '"t-closeness"',
    '"distinct-l-diversity"', '"parquet"', '"value"', '"""\na"""', "{a = {b = 1}}", '["north", "south"]',
    "0x7fffffffffffffff", "0o7", "1_000", "12:00:00", "0.5", "4", "2", "[1979-05-27, 1]",
]  # fmt: skip
TOML_KEYS = [
    "beta", "k", "t", "delta", "l", "c", "ground", "negative_beta", "groups", "width", "with_values", "name",
    "scheme", "format", "missing", "options", "role", "type", "domain", "hierarchy", "weight", "table",
    "delimiter", "x", '"a.b"', "''",
]  # fmt: skip
OPERATORS = [
    "=", "<>", "<", "<=", ">", ">=", "!=", "==", "LIKE", "IS", "IS NOT", "||", "+", "&", "<=>", "~",
]  # fmt: skip
NAMES = [
    "age", "sex", "town", "illness", "since", "AGE", '"age"', "`age`", "t.age", "nothing", "*", "COUNT(*)",
    "age + 1",
]  # fmt: skip
LITERALS = [
    "1", "-1", "77337", "1e308", "1e999", "-1e999", "0.5", "9223372036854775808", "1" * 500, ".5", "1.", "0x1F",
    "'Ulm'", "'n'", "''", "'*'", "'f'", "'kvzqxj'", "'2020-01-01'", "DATE '2020-01-01'", "DATE '0000-00-00'",
    "CAST('x' AS DATE)", "NULL", "TRUE", "'10000-01-01'", "TIMESTAMP '2020-01-01'", "'nan'", "'inf'", "NaN", "- - 1",
    "-(-(1))", "'it''s'", "(SELECT 1)", "?", ":a", "@x", "$1", "INTERVAL '1' DAY", "ARRAY[1]", "{d '2020-01-01'}",
    "X'41'", "N'x'", "E'\\n'", "'[1, 2]'", "'\u0661'", "'\x00'", "CURRENT_DATE",
]  # fmt: skip
WORDS = [
    "age", "sex", "town", "since", "illness", "name", "Ulm", "n", "*", "categorical", "integer", "real",
    "date", "datetime", "burel", "seam", "perturb", "baseline", "mondrian", "enhanced-likeness", "basic-likeness",
    "t-closeness", "k-anonymity", "delta-disclosure", "entropy-l-diversity", "labels", "published.csv",
    "published.parquet", "../certificate.json", "/etc/hosts", "published.parquet/..", "transition.csv",
    "distribution.csv", "kvzqxj", "y" * 2000,
]  # fmt: skip
