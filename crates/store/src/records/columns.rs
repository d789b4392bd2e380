//! What the columns of a stream are made of: one table gives the schema, how each column is packed, and how it is read.
//!
//! Data in: values of rows. Data out: Arrow columns, and values again. It must not know what a column means.

use crate::StoreError;
use crate::columns::Columns;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// How the values of a column are packed in Parquet, before zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Differences of neighbours: what grows or stays.
    Delta,
    /// All first bytes, then all second bytes, …: what jumps about in a narrow range, or whose low bits are zeros.
    Split,
    Plain,
    /// Numbers of few different words.
    Words,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) data_type: DataType,
    pub(crate) nullable: bool,
    pub(crate) packing: Packing,
}

impl Column {
    /// A column that has a value in each row.
    pub(crate) const fn new(name: &'static str, data_type: DataType, packing: Packing) -> Self {
        Self {
            name,
            data_type,
            nullable: false,
            packing,
        }
    }

    /// A column that may have none.
    pub(crate) const fn optional(name: &'static str, data_type: DataType, packing: Packing) -> Self {
        Self {
            name,
            data_type,
            nullable: true,
            packing,
        }
    }

    /// A column of words.
    pub(crate) const fn words(name: &'static str) -> Self {
        Self::new(name, DataType::Utf8, Packing::Words)
    }
}

/// The schema of a table of columns.
pub(crate) fn schema_of(columns: &[Column]) -> SchemaRef {
    let field = |column: &Column| Field::new(column.name, column.data_type.clone(), column.nullable);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// A column of numbers, one of each row.
pub(crate) fn numbers<T: ArrowPrimitiveType, R>(rows: &[R], value: impl Fn(&R) -> T::Native) -> ArrayRef {
    let values: Vec<T::Native> = rows.iter().map(value).collect();
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None))
}

/// A column of numbers of which some rows have none.
pub(crate) fn optional<T: ArrowPrimitiveType, R>(
    rows: &[R],
    value: impl Fn(&R) -> Option<T::Native>,
) -> ArrayRef {
    let mut valid = BooleanBufferBuilder::new(rows.len());
    let mut values: Vec<T::Native> = Vec::with_capacity(rows.len());
    for row in rows {
        let value = value(row);
        valid.append(value.is_some());
        values.push(value.unwrap_or_default());
    }
    let nulls = Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0);
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

/// A column of words.
pub(crate) fn words<'a>(words: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(words))
}

/// The words of a column from outside, each looked at once: from Parquet they come as numbers of a dictionary, from a
/// stream one by one.
pub(crate) struct Words<T> {
    values: Vec<T>,
    keys: Vec<u32>,
}

impl<T> Words<T> {
    /// Reads the column `name`; `parse` makes a value of a word or says what is wrong with it.
    pub(crate) fn read(
        columns: &Columns<'_>,
        name: &str,
        mut parse: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Self, StoreError> {
        let array = columns.any(name)?;
        let mut parsed = |word: &str| parse(word).map_err(|problem| columns.error(name, problem));
        if let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() {
            let words = dictionary.values().as_string_opt::<i32>();
            let words = words.ok_or_else(|| columns.error(name, "is no text"))?;
            if dictionary.null_count() > 0 || words.null_count() > 0 {
                return Err(columns.error(name, "has empty values"));
            }
            let values = (0..words.len())
                .map(|index| parsed(words.value(index)))
                .collect::<Result<Vec<_>, _>>()?;
            let keys: Vec<u32> = dictionary.keys().values().iter().map(|&key| key as u32).collect();
            if keys.iter().any(|&key| key as usize >= values.len()) {
                return Err(columns.error(name, "has a number that its dictionary lacks"));
            }
            return Ok(Self { values, keys });
        }
        let words = columns.texts(name)?;
        let mut last: Option<&str> = None;
        let (mut values, mut keys) = (Vec::new(), Vec::with_capacity(words.len()));
        for index in 0..words.len() {
            let word = words.value(index);
            // Neighbours are often the same.
            if last != Some(word) {
                values.push(parsed(word)?);
                last = Some(word);
            }
            keys.push(values.len() as u32 - 1);
        }
        Ok(Self { values, keys })
    }

    /// The value of a row.
    pub(crate) fn value(&self, index: usize) -> &T {
        &self.values[self.keys[index] as usize]
    }
}

#[cfg(test)]
mod tests;
