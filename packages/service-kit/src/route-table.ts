import type { AnyRoute } from '@countersign/contracts';

type Entry = { method: string; segments: readonly string[] };

export type RouteTable = {
  /** Methods of the routes that match a path, sorted, including HEAD and OPTIONS. Empty when none matches. */
  methodsOf(path: string): string[];
  /**
   * The routes with the same first segment as a path, for callers that mistyped a path. Empty when there are none, or
   * too many.
   */
  neighboursOf(path: string): string[];
  /**
   * A path without caller-controlled text: segments that a route has at that position, and `{…}` for every other
   * segment.
   */
  shownPath(path: string): string;
};

const neighboursMax = 8;
/** More segments than any route has. */
const shownPartsMax = 12;

/** For the answers to OPTIONS, 404 and 405. The router itself finds the endpoints. */
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

/** Whether the route answers HEAD. Streams do not: their length is not known, so HEAD would have to open the stream. */
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
 * Fixed segments precede parameters, so that `/tasks/search` is never read as the task named search. The order is
 * total. Otherwise two such routes could both equal a third one, and a sort might never compare the two.
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
