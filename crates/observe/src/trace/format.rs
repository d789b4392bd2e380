//! The description of an event: which field lies where.
//!
//! Duty: parse `events/*/*/format` and `events/header_page` of tracefs (`f_show` of `kernel/trace/trace_events.c`). Data
//! in: their text, untrusted. Data out: [`EventFormat`], [`Field`]. It must not know what any event means. Only these
//! descriptions say where a field is: the places change from kernel to kernel.

use thiserror::Error;

/// A field that ends further out is not believed: the kernel's largest buffer pages have 2 MiB.
const END_MAX: usize = 8 << 20;

/// One field of an event or of a page's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name, without the array's brackets.
    pub name: String,
    /// Where it begins, in bytes from the start of the event.
    pub offset: u32,
    /// How long it is, in bytes.
    pub size: u32,
    /// Whether it is a signed number.
    pub signed: bool,
    /// Whether it only says where the data is (`__data_loc`): the low 16 bits are an offset, the high ones a length.
    pub data_loc: bool,
}

impl Field {
    /// Where it ends, in bytes from the start of the event.
    pub fn end(&self) -> usize {
        self.offset as usize + self.size as usize
    }
}

/// One event, as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// Its name: `block_rq_issue`.
    pub name: String,
    /// The number that its records carry (`common_type`).
    pub id: u16,
    /// Its fields, in the order of the text.
    pub fields: Vec<Field>,
}

/// Why a description was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A line that describes a field is not of the known shape.
    #[error("{line}: `{text}` does not describe a field: this kernel writes them in a way that is not known")]
    Field {
        /// Which line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// There is no usable `ID:` line.
    #[error("there is no line `ID: number` below 65536")]
    Id,
    /// There is no usable `name:` line.
    #[error("there is no line `name: word`")]
    Name,
}

impl EventFormat {
    /// Reads the text of a `format` file.
    ///
    /// # Errors
    /// Name or number are missing, or a field is not of the known shape.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let after = |key: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(key))
                .map(str::trim)
        };
        let name = after("name:").filter(|name| !name.is_empty());
        let id = after("ID:").and_then(|id| id.parse().ok());
        Ok(Self {
            name: name.ok_or(FormatError::Name)?.to_owned(),
            id: id.ok_or(FormatError::Id)?,
            fields: fields(text)?,
        })
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// All lines `field:TYPE NAME; offset:N; size:N; signed:N;` (with tabs between). Other lines are not looked at.
///
/// # Errors
/// A line that begins so is not of that shape.
pub fn fields(text: &str) -> Result<Vec<Field>, FormatError> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("field:") else {
            continue;
        };
        let field = parse_field(rest).ok_or_else(|| FormatError::Field {
            line: index + 1,
            text: line.trim().chars().take(120).collect(),
        })?;
        found.push(field);
    }
    Ok(found)
}

fn parse_field(text: &str) -> Option<Field> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let mut field = Field {
        name: name_of(declaration)?.to_owned(),
        offset: 0,
        size: 0,
        signed: false,
        data_loc: declaration.starts_with("__data_loc"),
    };
    let (mut offset, mut size) = (None, None);
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once(':')?;
        match key {
            "offset" => offset = Some(bounded(value)?),
            "size" => size = Some(bounded(value)?),
            "signed" => field.signed = value.trim() == "1",
            // A kernel may say more of a field than is known here.
            _ => {}
        }
    }
    field.offset = offset?;
    field.size = size?;
    (field.end() <= END_MAX).then_some(field)
}

/// `rwbs` of `char rwbs[10]`, `cmd` of `__data_loc char[] cmd`.
fn name_of(declaration: &str) -> Option<&str> {
    let word = declaration.rsplit([' ', '*']).next()?;
    let name = word.split('[').next()?;
    (!name.is_empty()).then_some(name)
}

fn bounded(text: &str) -> Option<u32> {
    text.trim()
        .parse()
        .ok()
        .filter(|&number| number as usize <= END_MAX)
}

#[cfg(test)]
mod tests;
