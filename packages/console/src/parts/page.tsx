import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visibleText } from '@countersign/contracts';
import { useWaiting } from '../live/waiting.ts';

type Props = {
  title: string;
  /** The page above this one. `keepsSearch`: the link keeps the search, so that a list shows the same part again. */
  above?: { title: string; to: string; keepsSearch?: true };
  /** Shown before the title. */
  symbol?: ReactNode;
  /** Shown after the title: the state of the shown object. */
  state?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame of every page: title, description, actions and content. */
export function Page({ title, above, symbol, state, about, actions, children }: Props) {
  const shown = visibleText(title);
  const waiting = useWaiting();
  useDocumentTitle(`${waiting > 0 ? `(${waiting}) ` : ''}${shown} · Countersign`);
  return (
    <main id="main" tabIndex={-1}>
      {above !== undefined && (
        <nav className="above" aria-label="Breadcrumb">
          <Link to={above.to} search={(before: object) => (above.keepsSearch ? before : {})}>
            {above.title}
          </Link>{' '}
          <span aria-hidden="true">›</span> <bdi>{shown}</bdi>
        </nav>
      )}
      <header className="page-head">
        <div>
          <div className="line-head">
            {symbol}
            <h1>
              <bdi>{shown}</bdi>
            </h1>
            {state}
          </div>
          {about !== undefined && <p className="quiet">{typeof about === 'string' ? visibleText(about) : about}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}
