import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { EndableTable } from '../parts/endable-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { More } from '../parts/more.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import type { WorkspaceList } from '../workspace/workspace-list.ts';

type Column<Item> = { name: string; show: (item: Item) => ReactNode };
/** The confirmation before an item ends: its kind, its name and the consequence. */
type Ending = { what: string; of: string; says: string; run: () => Promise<unknown> };

type Props<Item> = {
  title: string;
  /** The accessible name of the table. */
  label: string;
  /** The `countersign` command that prints the same list. */
  words: string;
  list: WorkspaceList<Item>;
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  /** `null` when the item has ended. */
  endingOf: (item: Item) => Ending | null;
  empty: { title: string; says: string };
  /** The button that makes another item. */
  make: ReactNode;
};

/** A list of keys or invites of this workspace, which people can end. */
export function Issued<Item>(props: Props<Item>) {
  const { title, label, words, list, keyOf, columns, endingOf, empty, make } = props;
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Ending | null>(null);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <Loaded query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={empty.title} action={make}>
              {empty.says}
            </EmptyState>
          ) : (
            <>
              <EndableTable label={label} columns={columns.map(({ name }) => name)} hasCards>
                {items.map((item) => (
                  <Row
                    key={keyOf(item)}
                    id={keyOf(item)}
                    item={item}
                    columns={columns}
                    ending={endingOf(item)}
                    onEnd={setEnding}
                  />
                ))}
              </EndableTable>
              <p className="after-table">{make}</p>
            </>
          )
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words={words} filters={{ cursor: list.cursor }} count={list.count} hasShortcut={false} />
      <ConfirmDialog
        question={ending && { ...ending, title: `Revoke ${ending.what}`, act: `Revoke ${ending.what}` }}
        onClose={() => setEnding(null)}
        onDone={() => void queries.invalidateQueries({ queryKey: [id] })}
      />
    </section>
  );
}

type RowProps<Item> = {
  id: string;
  item: Item;
  columns: readonly Column<Item>[];
  ending: Ending | null;
  onEnd: (ending: Ending) => void;
};

function Row<Item>({ id, item, columns, ending, onEnd }: RowProps<Item>) {
  return (
    <tr data-id={id}>
      {columns.map(({ name, show }) => (
        <td key={name} data-name={name}>
          {show(item)}
        </td>
      ))}
      <td className="tight">
        {ending === null ? (
          <Mark tone="plain">ended</Mark>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Revoke the ${ending.what} of ${ending.of}`}
            onClick={() => onEnd(ending)}
          >
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}
