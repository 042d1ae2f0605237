//! The pages of a row group, unpacked within a budget. The library gives them as they stand in the file.

use crate::file_parts::FileParts;
use crate::page_codec::unpack_bytes;
use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that the pages for a batch of rows may take together.
#[derive(Clone)]
pub(crate) struct PageBudget {
    most: usize,
    spent: Arc<AtomicUsize>,
}

impl PageBudget {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, spent: Arc::default() }
    }

    /// The pages of the rows before are let go.
    pub(crate) fn start_batch(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    fn unpack_page(&self, compression: Compression, packed: Bytes) -> Result<Bytes> {
        let left = self.most.saturating_sub(self.spent.load(Ordering::Relaxed));
        let bytes = unpack_bytes(compression, packed, left)
            .map_err(|error| ParquetError::General(format!("a page of {compression}: {error}")))?;
        self.spent.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(bytes)
    }
}

/// One row group of a file.
pub(crate) struct GroupPages {
    pub(crate) parts: Arc<FileParts>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) group: usize,
    pub(crate) budget: PageBudget,
}

impl GroupPages {
    fn row_group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }
}

impl RowGroups for GroupPages {
    fn num_rows(&self) -> usize {
        usize::try_from(self.row_group().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.row_group().column(column);
        let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let pages = SerializedPageReader::new(self.parts.clone(), &plain, self.num_rows(), None)?;
        let reader = UnpackedPages { pages, compression: chunk.compression(), budget: self.budget.clone() };
        Ok(Box::new(OneChunk(Some(reader))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.row_group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

struct OneChunk(Option<UnpackedPages>);

impl Iterator for OneChunk {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|reader| Ok(Box::new(reader) as _))
    }
}

impl PageIterator for OneChunk {}

struct UnpackedPages {
    pages: SerializedPageReader<FileParts>,
    compression: Compression,
    budget: PageBudget,
}

impl UnpackedPages {
    fn unpack_page(&self, mut page: Page) -> Result<Page> {
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.budget.unpack_page(self.compression, buf.clone())?;
            }
            Page::DataPageV2 { buf, is_compressed, def_levels_byte_len, rep_levels_byte_len, .. } => {
                // The levels stand before the values, and are never compressed.
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let levels = usize::try_from(levels).ok().filter(|levels| *levels <= buf.len());
                let cut = || ParquetError::General("the levels of a page are cut off".to_owned());
                let values = buf.split_off(levels.ok_or_else(cut)?);
                let packed = *is_compressed && !values.is_empty();
                let compression = if packed { self.compression } else { Compression::UNCOMPRESSED };
                let values = self.budget.unpack_page(compression, values)?;
                *buf = [buf.as_ref(), values.as_ref()].concat().into();
                *is_compressed = false;
            }
        }
        Ok(page)
    }
}

impl Iterator for UnpackedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for UnpackedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.unpack_page(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}
