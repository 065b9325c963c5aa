import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer, type Range, type Virtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useMemo,
  useRef,
  useState,
  type ComponentType,
  type FocusEvent,
  type RefObject,
} from 'react';
import type { Lasting } from '../workspace/read-newest.ts';
import type { LastingList } from '../workspace/lasting-list.ts';
import { ProblemNote } from './problem-note.tsx';

type Props<Row> = {
  label: string;
  columns: readonly { title: string; className?: string }[];
  /** The cells of a row, one for each column. */
  cells: ComponentType<{ row: Row }>;
  list: Lasting<Row>;
  older: LastingList<Row>['older'];
};

/** The most rows that are all in the document: found by the browser's own search, and printed. */
const wholeMax = 200;
/** The height of a row in rem, as `.long td` of console.css has it. Another height is measured, and each one moves all rows behind it. */
const rowRem = { wide: 2.25, narrow: 3.5 };
const narrow = '(max-width: 48rem)';
/** Rows beyond what is seen, so that the next one is there when Tab or a finger asks for it. */
const overscan = 5;
/** The distance from its end at which a list asks for more. */
const nearEndPx = 2_000;

/**
 * A list that grows as it is scrolled, in a box of its own, so that what stands below stays in reach. Only the visible
 * rows of a long list are in the document; each states its number for assistive technology.
 */
export function LongTable<Row extends { id: string }>({ label, columns, cells, list, older }: Props<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const rows = list.items;
  const { virtualizer, setFocused, setAtTop } = useWindow(box, list);
  const scrolled = () => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    setAtTop(scrollTop === 0);
    if (older.has && older.fault === null && scrollHeight - scrollTop - clientHeight < nearEndPx) older.ask();
  };
  const isWhole = rows.length <= wholeMax;
  const places = isWhole ? rows.map((_, index) => ({ index, start: 0, end: 0 })) : virtualizer.getVirtualItems();
  const totalPx = isWhole ? 0 : virtualizer.getTotalSize();
  return (
    <>
      <div ref={box} className="table-box long" tabIndex={0} role="region" aria-label={label} onScroll={scrolled}>
        <table aria-rowcount={older.has ? -1 : rows.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map(({ title, className }) => (
                <th key={title} className={className}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody onFocus={(event) => setFocused(idOfRow(event))}>
            <Rows {...{ rows, places, totalPx, cells, columns: columns.length, measure: virtualizer.measureElement }} />
          </tbody>
        </table>
      </div>
      {!isWhole && (
        <p className="print-only">
          {rows.length} rows were loaded, and those in sight are printed. The command that is copied from this list
          prints all of them.
        </p>
      )}
      <Older older={older} />
    </>
  );
}

type InBox = Virtualizer<HTMLDivElement, HTMLTableRowElement>;

/** Which rows are in sight. The row that has the focus stays in the document, and what is read stays in its place as new rows come. */
function useWindow(box: RefObject<HTMLDivElement | null>, { items: rows, newer }: Lasting<{ id: string }>) {
  const [focused, setFocused] = useState<string | null>(null);
  const [isAtTop, setAtTop] = useState(true);
  const kept = useMemo(() => (focused === null ? -1 : rows.findIndex(({ id }) => id === focused)), [rows, focused]);
  const isNarrow = useMediaQuery(narrow) === true;
  const usualPx = useMemo(() => (isNarrow ? rowRem.narrow : rowRem.wide) * pxOfRem(), [isNarrow]);
  const virtualizer: InBox = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => usualPx,
    measureElement: sizeOf,
    // The same number for a row however many come above it, and cheaper than its id: 100,000 of them are gone through at each change.
    getItemKey: useCallback((index: number) => index - newer, [newer]),
    rangeExtractor: useCallback((range: Range) => withKept(defaultRangeExtractor(range), kept), [kept]),
    overscan,
    anchorTo: isAtTop ? 'start' : 'end',
  });
  return { virtualizer, setFocused, setAtTop };
}

function pxOfRem(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}

/**
 * The size that the browser reports after each layout: reading a row as it is made would lay all of them out at once.
 */
function sizeOf(row: HTMLTableRowElement, entry: ResizeObserverEntry | undefined, inBox: InBox): number {
  const [size] = entry?.borderBoxSize ?? [];
  if (size !== undefined) return Math.round(size.blockSize);
  const index = inBox.indexFromElement(row);
  return inBox.itemSizeCache.get(inBox.options.getItemKey(index)) ?? inBox.options.estimateSize(index);
}

function withKept(indexes: number[], kept: number): number[] {
  return kept === -1 || indexes.includes(kept) ? indexes : [...indexes, kept].sort((one, other) => one - other);
}

function idOfRow({ target }: FocusEvent<HTMLElement>): string | null {
  return target.closest<HTMLElement>('[data-id]')?.dataset['id'] ?? null;
}

type RowsProps<Row> = Pick<Props<Row>, 'cells'> & {
  rows: readonly Row[];
  places: readonly { index: number; start: number; end: number }[];
  totalPx: number;
  columns: number;
  measure: (row: HTMLTableRowElement | null) => void;
};

/** The rows, and in place of those that are left out as much room as they take. */
function Rows<Row extends { id: string }>({ rows, places, totalPx, cells, columns, measure }: RowsProps<Row>) {
  const shown = [];
  let reached = 0;
  for (const { index, start, end } of places) {
    const row = rows[index];
    if (row === undefined) continue;
    if (start > reached) shown.push(<Room key={`before ${row.id}`} px={start - reached} columns={columns} />);
    reached = end;
    shown.push(
      <tr key={row.id} ref={measure} data-id={row.id} data-index={index} aria-rowindex={index + 2}>
        <Cells cells={cells as ComponentType<{ row: unknown }>} row={row} />
      </tr>,
    );
  }
  if (totalPx > reached) shown.push(<Room key="behind" px={totalPx - reached} columns={columns} />);
  return shown;
}

/** A row does not change while others come and go around it. */
const Cells = memo(function Cells({ cells: Of, row }: { cells: ComponentType<{ row: unknown }>; row: unknown }) {
  return <Of row={row} />;
});

function Room({ px, columns }: { px: number; columns: number }) {
  return (
    <tr aria-hidden="true" className="room">
      <td colSpan={columns} style={{ height: px }} />
    </tr>
  );
}

function Older({ older: { has, isAsked, fault, ask } }: { older: LastingList<never>['older'] }) {
  if (!has) return null;
  return (
    <>
      {fault !== null && <ProblemNote error={fault} />}
      <p className="more">
        <Button size="xs" variant="default" loading={isAsked} onClick={ask}>
          Show more
        </Button>
      </p>
    </>
  );
}
