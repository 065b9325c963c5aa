import type { Context } from '../context.ts';
import { findSighted } from '../store/incident-sightings.ts';
import { listWatched } from '../store/watched-workspaces.ts';
import { reportSighting, type Seen, type Watching } from './report-sighting.ts';

/** The workspaces that get one report in a pass, so that it blocks no other watch for long. */
const toldPerPass = 200;

/** How far each thing was told; what was told to all stands at the end. It is lost with the process, and then nothing is told twice. */
export class ToldPlaces {
  readonly #places = new Map<string, string>();

  of(key: string): string {
    return this.#places.get(key) ?? '';
  }

  note(key: string, place: string): void {
    // The oldest go first: what is forgotten is looked up again.
    if (this.#places.size >= placesMax) this.#places.delete(this.#places.keys().next().value ?? key);
    this.#places.set(key, place);
  }
}

/** More things than go wrong at once. */
const placesMax = 10_000;
/** Behind every id. */
const end = '~';

/** Reports what concerns every workspace to those that were not told of it yet. */
export async function tellEveryWorkspace(
  context: Watching & Pick<Context, 'database'>,
  places: ToldPlaces,
  seen: Seen,
): Promise<void> {
  const key = `${seen.dedupKey} ${seen.sighting}`;
  const after = places.of(key);
  if (after === end) return;
  const { reader } = context.database;
  const next = await listWatched(reader, { after, limit: toldPerPass });
  const sighted = await findSighted(reader, next, seen);
  for (const workspaceId of next.filter((id) => !sighted.has(id))) {
    await reportSighting(context, workspaceId, seen);
    places.note(key, workspaceId);
  }
  places.note(key, next.length < toldPerPass ? end : (next.at(-1) ?? end));
}
