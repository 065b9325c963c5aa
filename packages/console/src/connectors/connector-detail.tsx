import { mayDo } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { Link } from '@tanstack/react-router';
import { CopyText } from '../parts/copy-text.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { OfferedTools } from '../tools/offered-tools.tsx';
import { useServer } from '../tools/use-server.ts';
import { WhatChanged } from '../tools/what-changed.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { RefusedCatalogue } from './catalogue-notes.tsx';
import { Clients } from './clients.tsx';
import { hasServer, Signer } from './connector-cards.tsx';
import { isEnabled, newerVersionOf, stateOf } from './connector-state.ts';
import { DisableConnector } from './disable-connector.tsx';
import { InstallForm } from './install-form.tsx';
import { InstallSteps } from './install-steps.tsx';
import { SignedDocument } from './signed-document.tsx';
import { useConnectors, type ConnectorRow } from './use-connectors.ts';

/** One connector: the steps until agents can call it, its tools, and its clients. */
export function ConnectorDetail({ connectorId }: { connectorId: string }) {
  const { catalogue, installs, isRefused, rows } = useConnectors();
  const row = rows?.find(({ id }) => id === connectorId);
  const { word, tone } = row === undefined ? { word: null, tone: 'plain' as const } : stateOf(row);
  return (
    <Page
      title={row?.entry?.title ?? connectorId}
      above={{ title: 'Connectors', to: '/connectors' }}
      state={word !== null && <Mark tone={tone}>{word}</Mark>}
      about={row?.entry?.summary}
      actions={row !== undefined && isEnabled(row.install) && <DisableConnector connectorId={row.id} />}
    >
      {isRefused && <RefusedCatalogue error={catalogue.error} retry={() => void catalogue.refetch()} />}
      {catalogue.error !== null && !isRefused && (
        <ProblemNote error={catalogue.error} retry={() => void catalogue.refetch()} />
      )}
      <Loaded query={installs}>
        {() => {
          if (rows === null) return <p className="quiet">Loading…</p>;
          return row === undefined ? <UnknownConnector /> : <Whole row={row} />;
        }}
      </Loaded>
    </Page>
  );
}

function UnknownConnector() {
  return (
    <EmptyState title="No connector has this name">
      Pick one from the list of <Link to="/connectors">connectors</Link>.
    </EmptyState>
  );
}

function Whole({ row }: { row: ConnectorRow }) {
  const { entry, install } = row;
  const { role } = useWorkspace();
  const newer = newerVersionOf(row);
  return (
    <>
      <InstallSteps row={row} />
      {newer !== null && entry !== null && mayDo(role, 'tool.manage') && (
        <section className="panel-card" aria-label="Update">
          <h2>
            Update to version <Shown text={newer} />
          </h2>
          <InstallForm entry={entry} act="Update" />
        </section>
      )}
      <div className="two-columns">
        {hasServer(row) ? <ToolsOf connectorId={row.id} /> : <p className="quiet">{stateOf(row).meaning}</p>}
        <section className="stacked" aria-label="About">
          <Signer entry={entry} />
          <Facts row={row} />
          {entry !== null && <SignedDocument connectorId={row.id} />}
        </section>
      </div>
      {hasServer(row) && install !== null && mayDo(role, 'agent_key.manage') && <Clients install={install} />}
    </>
  );
}

function ToolsOf({ connectorId }: { connectorId: string }) {
  const server = useServer(connectorId);
  return (
    <section className="stacked" aria-label="Tools of the connector">
      <h2>Tools</h2>
      <Loaded query={server}>
        {({ tools }) => (
          <>
            <OfferedTools tools={tools} />
            {tools
              .filter(({ pin }) => pin === 'drifted')
              .map((tool) => (
                <WhatChanged key={tool.name} tool={tool} />
              ))}
          </>
        )}
      </Loaded>
      <p>
        <Link to="/tools" search={(before: object) => ({ ...before, server: connectorId })}>
          Open the server in Tools
        </Link>
      </p>
    </section>
  );
}

function Facts({ row: { entry, install } }: { row: ConnectorRow }) {
  return (
    <dl className="facts">
      {entry !== null && (
        <>
          <dt>Address</dt>
          <dd>
            <Shown text={entry.url} />
          </dd>
          <dt>Catalogue version</dt>
          <dd>
            <Shown text={entry.version} />
          </dd>
          <dt>Hash of server.json</dt>
          <dd>
            <CopyText text={entry.server_json_hash} />
          </dd>
        </>
      )}
      {isEnabled(install) && <InstalledFacts install={install} />}
    </dl>
  );
}

function InstalledFacts({ install: { version, installed_by: by, installed_at: at } }: { install: ConnectorInstall }) {
  return (
    <>
      <dt>Installed version</dt>
      <dd>
        <Shown text={version} />
      </dd>
      <dt>Added</dt>
      <dd>
        <Moment at={at} /> by <Who actor={by} />
      </dd>
    </>
  );
}
