use super::*;
use arrow_array::types::UInt64Type;
use arrow_array::{DictionaryArray, Int32Array, RecordBatch, UInt32Array};
use expect_test::expect;
use std::path::Path;

fn batch(array: ArrayRef) -> RecordBatch {
    let field = Field::new("op", array.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).expect("a batch")
}

fn read(array: ArrayRef) -> Result<Vec<usize>, String> {
    let batch = batch(array);
    let rows = batch.num_rows();
    let length = |word: &str| {
        if word == "bad" {
            return Err(String::from("is bad"));
        }
        Ok(word.len())
    };
    let words = Words::read(&Columns::new(&batch, Path::new("f")), "op", length);
    let words = words.map_err(|error| error.to_string())?;
    Ok((0..rows).map(|index| *words.value(index)).collect())
}

#[test]
fn words_and_dictionaries_read_alike() {
    let words = ["a", "bb", "bb", "a", "", "ccc"];
    let plain = read(Arc::new(StringArray::from_iter_values(words)));
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    assert_eq!(plain, Ok(words.map(str::len).to_vec()));
    assert_eq!(read(Arc::new(dictionary)), plain);
}

#[test]
fn wrong_words_are_errors() {
    let said = |array: ArrayRef| {
        let error = read(array).expect_err("a wrong column");
        error.split(". ").next().unwrap_or_default().to_owned()
    };
    expect!["f: column `op` is bad"].assert_eq(&said(Arc::new(StringArray::from(vec!["a", "bad"]))));
    expect!["f: column `op` has empty values"]
        .assert_eq(&said(Arc::new(StringArray::from(vec![Some("a"), None]))));
    expect!["f: column `op` is UInt32, not Utf8"].assert_eq(&said(Arc::new(UInt32Array::from(vec![1]))));
    let of_numbers = DictionaryArray::new(Int32Array::from(vec![0]), Arc::new(UInt32Array::from(vec![1])));
    expect!["f: column `op` is no text"].assert_eq(&said(Arc::new(of_numbers)));
    let with_null: DictionaryArray<Int32Type> = vec![Some("a"), None].into_iter().collect();
    expect!["f: column `op` has empty values"].assert_eq(&said(Arc::new(with_null)));
}

#[test]
fn what_is_not_there_is_null() {
    let array = optional::<UInt64Type, _>(&[0u64, 1, 2], |&n| (n != 1).then_some(n));
    assert_eq!((array.null_count(), array.is_null(1)), (1, true));
    assert_eq!(optional::<UInt64Type, _>(&[0u64], |&n| Some(n)).nulls(), None);
}
