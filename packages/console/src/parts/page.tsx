import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visibleText } from '@countersign/contracts';
import { useWaiting } from '../live/waiting.ts';

type Props = {
  title: string;
  /** The page above this one. `keepsSearch`: it is a list, and shows the same part of it again. */
  above?: { title: string; to: string; keepsSearch?: true };
  /** Before the title. */
  symbol?: ReactNode;
  /** Behind the title: the state of what the page is about. */
  state?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame of every page: its name, what it is about in one line, what can be done, and the rest. */
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
