// Must be imported before any component: React and the testing library read the globals of a browser when they load.
import { afterAll } from '@jest/globals';
import { JSDOM } from 'jsdom';

const origin = 'https://console.example';

/**
 * One window per worker, because loaded modules keep their window. Each test file loads this helper again, so the
 * window is stored on the global object.
 */
const kept = globalThis as { consoleWindow?: JSDOM }; // this file alone sets the member
const dom = (kept.consoleWindow ??= openWindow());

function openWindow(): JSDOM {
  const opened = new JSDOM('<!doctype html><html lang="en"><body></body></html>', {
    url: `${origin}/console/`,
    pretendToBeVisual: true,
  });
  // Pages are not laid out here: no media query matches, and sizes and scroll positions never change.
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

/** Node has its own `navigator` from version 21 on. */
const replaced = new Set(['navigator', 'localStorage', 'sessionStorage']);
const before = new Map<string, PropertyDescriptor | undefined>();

for (const name of Object.getOwnPropertyNames(dom.window)) {
  if (name in globalThis && !replaced.has(name)) continue;
  before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
  const value: unknown = Reflect.get(dom.window, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

// Other test files of the worker run without a window, so the window is removed here. React still reads it one turn
// after a selection event.
afterAll(async () => {
  await new Promise((resolve) => setTimeout(resolve)); // waits for that turn
  for (const [name, descriptor] of before)
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
});
