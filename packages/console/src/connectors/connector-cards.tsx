import { IconPlug, IconRosetteDiscountCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Connector } from '@countersign/contracts/control-plane';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';
import { Capabilities } from './capabilities.tsx';
import { isAsApproved, isEnabled, newerVersionOf, stateOf } from './connector-state.ts';
import type { ConnectorRow } from './use-connectors.ts';

export function ConnectorCards({ rows }: { rows: readonly ConnectorRow[] }) {
  return (
    <ul className="connector-cards" aria-label="Connectors">
      {rows.map((row) => (
        <Card key={row.id} row={row} />
      ))}
    </ul>
  );
}

function Card({ row }: { row: ConnectorRow }) {
  const { id, entry } = row;
  const { word, tone } = stateOf(row);
  const title = entry?.title ?? id;
  return (
    <li className="panel-card connector-card" data-id={id}>
      <h2 className="line-head">
        <span className="symbol" aria-hidden="true">
          <IconPlug size={16} />
        </span>
        <Shown text={title} />
      </h2>
      <Signer entry={entry} />
      {entry !== null && (
        <p>
          <Shown text={entry.summary} />
        </p>
      )}
      {hasServer(row) ? (
        <Capabilities connectorId={id} />
      ) : (
        <p className="quiet">Its tools are listed once it is installed.</p>
      )}
      <div className="connector-foot">
        <Mark tone={tone}>{word}</Mark>
        <Link to={`/connectors/${encodeURIComponent(id)}`} className="button">
          {nextActOf(row)}
          <span className="hidden">
            {' '}
            <Shown text={title} />
          </span>
        </Link>
      </div>
    </li>
  );
}

/** Whether the kernel has the server of this connector. Another server may have the same name. */
export function hasServer({ install }: ConnectorRow): boolean {
  return isEnabled(install) && install.state !== 'unregistered';
}

function nextActOf(row: ConnectorRow): 'Install' | 'Review' | 'Open' {
  const { install } = row;
  if (!isEnabled(install)) return 'Install';
  return isAsApproved(install) && newerVersionOf(row) === null ? 'Open' : 'Review';
}

/** The catalogue has one signature for all entries. */
export function Signer({ entry }: { entry: Connector | null }) {
  if (entry === null) return <p className="quiet">No longer in the catalogue</p>;
  return (
    <p className="quiet connector-signer">
      <IconRosetteDiscountCheck size={14} aria-hidden="true" />
      <span>
        In the signed catalogue · <Shown text={hostOf(entry.url)} />
      </span>
    </p>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
