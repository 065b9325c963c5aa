import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { visibleText } from '@countersign/contracts';

type Props = { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode };

/** The frame of every page: its name, what it is about in one line, what can be done, and the rest. */
export function Page({ title, about, actions, children }: Props) {
  useDocumentTitle(`${title} · Countersign`);
  return (
    <main id="main" tabIndex={-1}>
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {about !== undefined && <p className="quiet">{typeof about === 'string' ? visibleText(about) : about}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}
