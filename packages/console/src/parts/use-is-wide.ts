import { useMediaQuery } from '@mantine/hooks';

/** Whether the screen has room for a list and one of its items beside it. `console.css` uses the same width. */
export function useIsWide(): boolean {
  return useMediaQuery('(min-width: 64.0625rem)', false, { getInitialValueInEffect: false });
}
