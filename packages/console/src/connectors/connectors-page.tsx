import { TextInput } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { z } from 'zod';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { NoCatalogue, RefusedCatalogue } from './catalogue-notes.tsx';
import { ConnectorCards } from './connector-cards.tsx';
import { ConnectorDetail } from './connector-detail.tsx';
import { isEnabled } from './connector-state.ts';
import { useConnectors, type ConnectorRow } from './use-connectors.ts';

/** `/connectors`: MCP servers that can be installed. `/connectors/{name}`: one connector, and the steps to install it. */
export function ConnectorsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  // The key mounts a new page for each connector, so no scan or secret of the last one stays.
  return id === undefined ? <AllConnectors /> : <ConnectorDetail key={id} connectorId={id} />;
}

function AllConnectors() {
  const { catalogue, installs, isRefused, rows } = useConnectors();
  return (
    <Page
      title="Connectors"
      about="MCP servers from a catalogue that the operator signed. Each starts in quarantine, until an owner approves its tools."
      actions={
        <Link to="/tools" className="button">
          Add your own server
        </Link>
      }
    >
      {isRefused ? (
        <RefusedCatalogue error={catalogue.error} retry={() => void catalogue.refetch()} />
      ) : (
        <Loaded query={catalogue}>{(entries) => (entries.length === 0 ? <NoCatalogue /> : null)}</Loaded>
      )}
      {installs.error !== null && <ProblemNote error={installs.error} retry={() => void installs.refetch()} />}
      {rows !== null && rows.length > 0 && <List rows={rows} />}
    </Page>
  );
}

const Search = z.object({ show: z.enum(['installed']).optional().catch(undefined) });

function List({ rows }: { rows: readonly ConnectorRow[] }) {
  const [{ show }] = usePageSearch(Search);
  const [wanted, setWanted] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', says: 'Find a connector', run: () => field.current?.focus() }]);
  const installed = rows.filter(({ install }) => isEnabled(install));
  const found = (show === 'installed' ? installed : rows).filter((row) => isFound(row, wanted));
  // The command lists the catalogue, without filters.
  const isWholeCatalogue = show === undefined && wanted === '' && rows.every(({ entry }) => entry !== null);
  return (
    <section aria-label="List of connectors">
      <nav className="tabs" aria-label="Which connectors">
        <Tab name={`All ${rows.length}`} isShown={show === undefined} />
        <Tab name={`Installed ${installed.length}`} show="installed" isShown={show === 'installed'} />
      </nav>
      <TextInput
        ref={field}
        className="connector-find"
        label="Find a connector"
        autoComplete="off"
        spellCheck={false}
        value={wanted}
        onChange={({ target }) => setWanted(target.value)}
      />
      {found.length === 0 ? (
        <EmptyState title={wanted === '' ? 'No connectors installed yet' : 'No matches'}>
          {wanted === '' ? 'Install one from the catalogue.' : 'Try a part of the name, such as “git”.'}
        </EmptyState>
      ) : (
        <ConnectorCards rows={found} />
      )}
      {isWholeCatalogue && <CopyCommand words="connectors ls" count={rows.length} />}
    </section>
  );
}

function Tab({ name, show, isShown }: { name: string; show?: 'installed'; isShown: boolean }) {
  return (
    <Link
      to="/connectors"
      search={(before: object) => ({ ...before, show })}
      activeOptions={{ exact: true, includeSearch: true }}
      {...(isShown && { 'aria-current': 'page' as const })}
    >
      {name}
    </Link>
  );
}

function isFound({ id, entry }: ConnectorRow, wanted: string): boolean {
  const text = [id, entry?.title, entry?.summary].join(' ').toLowerCase();
  return text.includes(wanted.trim().toLowerCase());
}
