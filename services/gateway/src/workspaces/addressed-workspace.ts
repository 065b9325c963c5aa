/** Where a request may name its workspace, in order of precedence. An empty name is no name. */
type WorkspaceNames = {
  path?: string | undefined;
  header?: string | undefined;
  query?: string | undefined;
  body?: string | undefined;
};

type AddressedWorkspace = { kind: 'named'; workspaceId: string } | { kind: 'missing' } | { kind: 'conflict' };

/** One request speaks about one workspace: two names that differ are a mistake or an attack, never a choice of ours. */
export function addressedWorkspace({ path, header, query, body }: WorkspaceNames): AddressedWorkspace {
  const names = [path, header, query, body].filter((name) => name !== undefined && name !== '');
  const [first] = names;
  if (first === undefined) return { kind: 'missing' };
  return names.every((name) => name === first) ? { kind: 'named', workspaceId: first } : { kind: 'conflict' };
}
