import type { UseQueryResult } from '@tanstack/react-query';
import { isAppError, pageLimit } from '@countersign/contracts';
import type { Connector, ConnectorInstall } from '@countersign/contracts/control-plane';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { area, useMarketplace } from './use-marketplace.ts';

const everyMs = 10_000;
/** An approval takes effect within about a second. */
const whileRequestedMs = 2_000;

/** A connector of the catalogue, of this workspace, or of both. */
export type ConnectorRow = {
  id: string;
  /** `null` when the catalogue does not contain the connector. */
  entry: Connector | null;
  /** `null` when the connector was never installed, or when the installs are unknown. */
  install: ConnectorInstall | null;
};

type Connectors = {
  catalogue: UseQueryResult<readonly Connector[]>;
  installs: UseQueryResult<readonly ConnectorInstall[]>;
  /** The catalogue was altered or has a wrong signer, so none of its entries is used. */
  isRefused: boolean;
  /** Rows in the order of their names. `null` until both reads have an answer. */
  rows: readonly ConnectorRow[] | null;
};

export function useConnectors(): Connectors {
  const client = useMarketplace();
  const catalogue = useWorkspaceQuery<readonly Connector[]>(
    [area, 'catalogue'],
    async (_, signal) => ({ body: await readPages((query) => client.listConnectors({ query, signal })) }),
    { everyMs },
  );
  const installs = useWorkspaceQuery<readonly ConnectorInstall[]>(
    [area, 'installs'],
    async (_, signal) => ({ body: await readPages((query) => client.listInstalls({ query, signal })) }),
    { everyMs: (last) => (last?.some(isRequested) === true ? whileRequestedMs : everyMs) },
  );
  const isRefused = isAppError(catalogue.error) && catalogue.error.code === 'INTEGRITY_FAILED';
  const isAnswered = !catalogue.isPending && !installs.isPending;
  const entries = isRefused ? [] : (catalogue.data ?? []);
  return { catalogue, installs, isRefused, rows: isAnswered ? rowsOf(entries, installs.data ?? []) : null };
}

const isRequested = ({ approval_request: request }: ConnectorInstall) => request !== null;

type At = { limit: number; cursor?: string };

/** All pages of a list. A catalogue has at most 500 entries. */
async function readPages<Item>(
  ask: (at: At) => Promise<{ body: { data: Item[]; next_cursor: string | null } }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const at: At = { limit: pageLimit.max, ...(cursor === null ? {} : { cursor }) };
    const { data, next_cursor: next }: { data: Item[]; next_cursor: string | null } = (await ask(at)).body;
    items.push(...data);
    cursor = next;
  } while (cursor !== null);
  return items;
}

function rowsOf(entries: readonly Connector[], installs: readonly ConnectorInstall[]): ConnectorRow[] {
  const installed = new Map(installs.map((install) => [install.connector_id, install]));
  const listed = new Set(entries.map(({ connector_id: id }) => id));
  const rows = entries.map((entry) => {
    const { connector_id: id } = entry;
    return { id, entry, install: installed.get(id) ?? null };
  });
  const others = installs
    .filter(({ connector_id: id }) => !listed.has(id))
    .map((install) => ({ id: install.connector_id, entry: null, install }));
  return [...rows, ...others].sort((left, right) => (left.id < right.id ? -1 : 1));
}
