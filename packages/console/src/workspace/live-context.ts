import { createContext, use } from 'react';

/** Whether live hints arrive. */
export const LiveContext = createContext(false);

/** The interval of polling without live hints. */
const untoldMs = 15_000;

/** The polling interval of queries without their own interval, in milliseconds. `false` while live hints arrive. */
export function useUnlessTold(): number | false {
  return use(LiveContext) ? false : untoldMs;
}
