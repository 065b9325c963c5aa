// Stands before every import of a component: React and the testing library read the globals of a browser when they are loaded.
import { afterAll } from '@jest/globals';
import { JSDOM } from 'jsdom';

const origin = 'https://console.example';

/**
 * One per worker, since modules that a file loaded keep its window. A helper of tests is loaded again, so it hangs on
 * the global object.
 */
const kept = globalThis as { consoleWindow?: JSDOM }; // a member of our own
const dom = (kept.consoleWindow ??= openWindow());

function openWindow(): JSDOM {
  const opened = new JSDOM('<!doctype html><html lang="en"><body></body></html>', {
    url: `${origin}/console/`,
    pretendToBeVisual: true,
  });
  // A page is never drawn here: no query of media matches, and nothing changes its size or is scrolled.
  const matchMedia = (media: string) => ({
    ...{ media, matches: false, onchange: null },
    ...{ addEventListener: () => undefined, removeEventListener: () => undefined },
  });
  class ResizeObserver {
    observe(): void {}
    unobserve(): void {}
    disconnect(): void {}
  }
  Object.assign(opened.window, { matchMedia, ResizeObserver, scrollTo: () => undefined });
  opened.window.Element.prototype.scrollIntoView = () => undefined;
  return opened;
}

/** Node has a navigator of its own from version 21 on. */
const replaced = new Set(['navigator', 'localStorage', 'sessionStorage']);
const before = new Map<string, PropertyDescriptor | undefined>();

for (const name of Object.getOwnPropertyNames(dom.window)) {
  if (name in globalThis && !replaced.has(name)) continue;
  before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
  const value: unknown = Reflect.get(dom.window, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

// Other files of the worker run without a window. A selection is reported a turn later, and React reads the window
// then.
afterAll(async () => {
  await new Promise((resolve) => setTimeout(resolve)); // that turn
  for (const [name, descriptor] of before)
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
});
