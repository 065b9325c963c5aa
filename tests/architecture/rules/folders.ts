import type { ImportGraph } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';

/**
 * Folders of one unit's src depend on each other in one direction, types included. A folder in a cycle cannot be read,
 * tested or moved alone. This holds for the folders directly below `src` with all that they contain, and for each folder
 * with its own files. Files beside the folders are wiring and may import all folders.
 */
export function noFolderCycles(graph: ImportGraph): string[] {
  return [...new Set([...cyclesOf(graph, topFolderOf), ...cyclesOf(graph, ownFolderOf)])];
}

type FolderOf = (path: string) => string | null;

function cyclesOf({ edges }: ImportGraph, folderOf: FolderOf): string[] {
  const uses = new Map<string, Map<string, string>>();
  for (const { from, to, specifier } of edges) {
    if (to === null || unitOf(from) !== unitOf(to)) continue;
    const [user, used] = [folderOf(from), folderOf(to)];
    if (user === null || used === null || user === used) continue;
    const existing = uses.get(user) ?? new Map<string, string>();
    uses.set(user, existing.set(used, existing.get(used) ?? `${from} imports ${specifier}`));
  }
  return [...uses].flatMap(([user, used]) =>
    [...used]
      .filter(([folder]) => reaches(uses, { start: folder, goal: user }))
      .map(([folder, example]) => `${user} and ${folder} are in a cycle: ${example}`),
  );
}

/**
 * The folder directly below `src`, such as `services/gateway/src/store`. `null` for generated code and for files
 * directly in `src`.
 */
function topFolderOf(path: string): string | null {
  const [folder, ...rest] = (insideSrc(path) ?? '').split('/');
  return rest.length === 0 || folder === 'generated' ? null : `${unitOf(path)}/src/${folder}`;
}

/** The folder that contains the file, such as `services/gateway/src/routes/tasks`. `null` as for `topFolderOf`. */
function ownFolderOf(path: string): string | null {
  return topFolderOf(path) === null ? null : path.slice(0, path.lastIndexOf('/'));
}

function reaches(uses: Map<string, Map<string, string>>, { start, goal }: { start: string; goal: string }): boolean {
  const seen = new Set([start]);
  for (const folder of seen) for (const next of uses.get(folder)?.keys() ?? []) seen.add(next);
  return seen.has(goal);
}
