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

/** Up to this number, all rows are in the document, so the browser can search and print them. */
const wholeMax = 200;
/**
 * The height of a row in rem, the same as of `.long td` in console.css. A row of another height moves all rows below
 * it.
 */
const rowRem = { wide: 2.25, narrow: 3.5 };
const narrow = '(max-width: 48rem)';
/** The number of rows to render outside the visible part, so that Tab and touch scrolling always find a next row. */
const overscan = 5;
/** The distance from the end at which a list requests older rows. */
const nearEndPx = 2_000;

/**
 * A list that grows while it is scrolled. It scrolls in its own box, so that content below it stays in reach. The
 * document contains only the visible rows of a long list, and each row states its number for assistive technology.
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
          {rows.length} rows were loaded, and only the visible rows are printed. The command that is copied from this
          list prints all rows.
        </p>
      )}
      <Older older={older} />
    </>
  );
}

type InBox = Virtualizer<HTMLDivElement, HTMLTableRowElement>;

/**
 * The visible rows. The focused row stays in the document. Rows keep their place on the screen when new rows arrive
 * above.
 */
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
    // This key is stable when rows are added above. It is also cheaper than the id of a row. That matters, because each
    // change of the list computes up to 100,000 keys.
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
 * The height of a row, as the browser reports it after each layout. Measuring each new row directly would lay out all
 * rows at once.
 */
function sizeOf(row: HTMLTableRowElement, entry: ResizeObserverEntry | undefined, inBox: InBox): number {
  const [size] = entry?.borderBoxSize ?? [];
  if (size !== undefined) return Math.round(size.blockSize);
  const index = inBox.indexFromElement(row);
  return inBox.itemSizeCache.get(inBox.options.getItemKey(index)) ?? inBox.options.estimateSize(index);
}

function withKept(indexes: number[], kept: number): number[] {
  return kept === -1 || indexes.includes(kept) ? indexes : [...indexes, kept].sort((a, b) => a - b);
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

/** The visible rows, with empty space of the same height in place of the other rows. */
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

/** A row is not rendered again when other rows are added or removed. */
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
