import type { AnyRoute } from '@countersign/contracts';

type Entry = { method: string; segments: readonly string[] };

export type RouteTable = {
  /** Methods of the routes that match a path, sorted, HEAD and OPTIONS included; empty when none matches. */
  methodsOf(path: string): string[];
  /**
   * The routes with the same beginning as a path, for callers that mistyped one. Empty when there are none, or too many
   * to read.
   */
  neighboursOf(path: string): string[];
  /** A path without what its caller put into it: names that a route has in that place, and `{…}` for every other part. */
  shownPath(path: string): string;
};

const neighboursMax = 8;
/** More parts than any route has. */
const shownPartsMax = 12;

/** For answering 404, 405 and OPTIONS. Finding the endpoint itself is the router's work. */
export function createRouteTable(routes: readonly AnyRoute[]): RouteTable {
  const entries: Entry[] = routes.flatMap((route) =>
    [route.method, ...(answersHead(route) ? ['HEAD'] : [])].map((method) => ({
      method,
      segments: route.path.split('/'),
    })),
  );
  const methodsOf = (path: string) => {
    const segments = path.split('/');
    const methods = entries.filter((entry) => matches(entry.segments, segments)).map((entry) => entry.method);
    return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort();
  };
  const neighboursOf = (path: string) => {
    const [, first] = path.split('/');
    const neighbours = routes.filter((route) => route.path.split('/')[1] === first);
    return neighbours.length > neighboursMax
      ? []
      : neighbours.map(({ method, path: template }) => `${method} ${template}`);
  };
  const shownPath = (path: string) => {
    let open = entries;
    const shown = path.split('/', shownPartsMax).map((segment, index) => {
      const isName = open.some(({ segments }) => segments[index] === segment && !isParam(segment));
      open = open.filter(({ segments }) => segments[index] === segment || isParam(segments[index] ?? ''));
      return isName ? segment : '{…}';
    });
    return shown.join('/');
  };
  return { methodsOf, neighboursOf, shownPath };
}

/** A stream has no length to tell, so HEAD would have to open it. */
export function answersHead(route: AnyRoute): boolean {
  return route.method === 'GET' && (route.media === 'json' || route.media === 'html');
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((segment, index) => (isParam(segment) ? segments[index] !== '' : segment === segments[index]));
}

function isParam(segment: string): boolean {
  return segment.startsWith('{');
}

/**
 * Fixed segments before parameters, so that `/tasks/search` is never taken for the task named search. The order is total: a sort never
 * compares two such routes with each other when it finds both equal to a third one.
 */
export function compareSpecificity(left: AnyRoute, right: AnyRoute): number {
  const [a, b] = [formOf(left), formOf(right)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function formOf({ path }: AnyRoute): string {
  return path
    .split('/')
    .map((segment) => (isParam(segment) ? '1' : '0'))
    .join('');
}
