import type { ReactNode } from 'react';

type Column = string | { wide: string };
type Props = {
  label: string;
  columns: readonly Column[];
  /** On narrow screens each row is a card. */
  hasCards?: boolean;
  children: ReactNode;
};

/**
 * A table of items that a person can end. The last cell of each row has the button. Narrow screens hide `wide` columns.
 */
export function EndableTable({ label, columns, hasCards = false, children }: Props) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={label}>
      <table {...(hasCards ? { className: 'cards' } : {})}>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column}>{column}</th>
              ) : (
                <th key={column.wide} className="wide">
                  {column.wide}
                </th>
              ),
            )}
            <th>
              <span className="hidden">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
