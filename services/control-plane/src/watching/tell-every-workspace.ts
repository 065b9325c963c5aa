import type { Context } from '../context.ts';
import { findSighted } from '../store/incident-sightings.ts';
import { listWatched } from '../store/watched-workspaces.ts';
import { reportSighting, type Seen, type Watching } from './report-sighting.ts';

/** The number of workspaces to which one pass sends a report, so that other watches are not delayed for long. */
const toldPerPass = 200;

/**
 * The place up to which each report was sent: `end` when it was sent to all workspaces. The places are lost with the
 * process, but stored sightings prevent duplicates.
 */
export class ToldPlaces {
  readonly #places = new Map<string, string>();

  of(key: string): string {
    return this.#places.get(key) ?? '';
  }

  note(key: string, place: string): void {
    // The oldest places are evicted first. Stored sightings replace an evicted place.
    if (this.#places.size >= placesMax) this.#places.delete(this.#places.keys().next().value ?? key);
    this.#places.set(key, place);
  }
}

/** The most places that are stored: more than there are faults at one time. */
const placesMax = 10_000;
/** Sorts after every id. */
const end = '~';

/** Sends a report that concerns every workspace to those that did not get it yet. */
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
