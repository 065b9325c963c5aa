import { createContext, use } from 'react';

/** Whether pages are told at once what changes. */
export const LiveContext = createContext(false);

/** The interval of polling without live hints. */
const untoldMs = 15_000;

/** How often what has no clock of its own is asked again, in milliseconds; false: its page is told when it changes. */
export function useUnlessTold(): number | false {
  return use(LiveContext) ? false : untoldMs;
}
