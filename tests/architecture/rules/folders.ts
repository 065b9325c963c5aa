import type { ImportGraph } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';

/**
 * Folders of one unit's src depend on each other in one direction, types included: a folder that is part of a cycle cannot be read,
 * tested or moved by itself. Files beside the folders are wiring, which knows them all.
 */
export function noFolderCycles({ edges }: ImportGraph): string[] {
  const uses = new Map<string, Map<string, string>>();
  for (const { from, to, specifier } of edges) {
    if (to === null || unitOf(from) !== unitOf(to)) continue;
    const [user, used] = [folderOf(from), folderOf(to)];
    if (user === null || used === null || user === used) continue;
    const known = uses.get(user) ?? new Map<string, string>();
    uses.set(user, known.set(used, known.get(used) ?? `${from} imports ${specifier}`));
  }
  return [...uses].flatMap(([user, used]) =>
    [...used]
      .filter(([folder]) => reaches(uses, { start: folder, goal: user }))
      .map(([folder, example]) => `${user} and ${folder} are in a cycle: ${example}`),
  );
}

/** `services/gateway/src/store`; null for a file that stands beside the folders, and for generated code. */
function folderOf(path: string): string | null {
  const [folder, ...rest] = (insideSrc(path) ?? '').split('/');
  return rest.length === 0 || folder === 'generated' ? null : `${unitOf(path)}/src/${folder}`;
}

function reaches(uses: Map<string, Map<string, string>>, { start, goal }: { start: string; goal: string }): boolean {
  const seen = new Set([start]);
  for (const folder of seen) for (const next of uses.get(folder)?.keys() ?? []) seen.add(next);
  return seen.has(goal);
}
