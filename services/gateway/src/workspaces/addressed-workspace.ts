import type { IncomingMessage } from 'node:http';
import { workspaceParamOf, type AnyRoute } from '@countersign/contracts';

/** The places in a request that may name the workspace, in order of precedence. An empty name is ignored. */
type WorkspaceNames = {
  path?: string | undefined;
  header?: string | undefined;
  query?: string | undefined;
  body?: string | undefined;
};

type AddressedWorkspace = { kind: 'named'; workspaceId: string } | { kind: 'missing' } | { kind: 'conflict' };

/** A request belongs to one workspace. Two different names are a mistake or an attack, so neither is chosen. */
export function addressedWorkspace({ path, header, query, body }: WorkspaceNames): AddressedWorkspace {
  const names = [path, header, query, body].filter((name) => name !== undefined && name !== '');
  const [first] = names;
  if (first === undefined) return { kind: 'missing' };
  return names.every((name) => name === first) ? { kind: 'named', workspaceId: first } : { kind: 'conflict' };
}

type Naming = {
  req: IncomingMessage;
  /** `null` when no route has this path. */
  route: AnyRoute | null;
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
};

/** The workspace names in a request, whose members are attacker-controlled. */
export function workspaceNames({ req, route, params, query, body }: Naming): WorkspaceNames {
  const header = req.headers['x-workspace-id'];
  return {
    path: route === null ? undefined : params[workspaceParamOf(route) ?? ''],
    header: typeof header === 'string' ? header : undefined,
    query: workspaceIdIn(query),
    body: workspaceIdIn(body),
  };
}

function workspaceIdIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('workspaceId' in value)) return undefined;
  return typeof value.workspaceId === 'string' ? value.workspaceId : undefined;
}
