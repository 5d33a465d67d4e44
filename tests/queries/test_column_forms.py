"""A model of columns is asked about variables in the types of the table, missing values written as there."""

import numpy as np
import pandas as pd
import pytest
from column_zoo import NUMERIC_FORMS, WORD_FORMS, draw_table

from hornbook.queries import Binariser
from hornbook.queries.variables import BinValues


@pytest.mark.parametrize("takes_missing", [False, True])
@pytest.mark.parametrize("form", [*NUMERIC_FORMS, *WORD_FORMS])
def test_rows_of_questions_are_written_as_the_table_has_them(form, takes_missing):
    frame, _ = draw_table(has_words=form in WORD_FORMS)
    table = {**NUMERIC_FORMS, **WORD_FORMS}[form](frame)
    rng = np.random.default_rng(0)
    binariser = Binariser.fit(table, dual=True)
    values = BinValues.of(binariser, table, takes_missing, rng)
    facts = rng.choice([0.0, 1.0, np.nan], size=(200, len(binariser.conditions)))
    facts[0] = np.nan
    asked = values.frame(facts)
    assert list(asked) == list(table)
    for name, column in table.items():
        if takes_missing and not column.isna().any():
            assert pd.api.types.is_float_dtype(asked[name].dtype), (
                "there is no missing value in whole numbers"
            )
            continue
        assert asked[name].dtype == column.dtype
        assert asked[name].isna().any() == takes_missing
        missing = {type(value) for value in column[column.isna()]}
        assert {type(value) for value in asked[name][asked[name].isna()]} <= missing
        assert set(asked[name].dropna()) <= set(column.dropna())
    for number, condition in enumerate(binariser.conditions):
        only = np.full((1, len(binariser.conditions)), np.nan)
        only[0, number] = 1
        if condition.evaluate(table)[0].any():
            assert condition.evaluate(values.frame(only))[0].all()
