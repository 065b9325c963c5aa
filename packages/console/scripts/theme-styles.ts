import { convertCssVariables, defaultCssVariablesResolver, DEFAULT_THEME, mergeMantineTheme } from '@mantine/core';
import type { Plugin } from 'vite';
import { theme } from '../src/theme.ts';

/** The variables of the theme as a style sheet of the build: Mantine would write them into the page, where no inline style counts. */
export function themeStyles(): Plugin {
  const variables = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
  return {
    name: 'theme-styles',
    enforce: 'pre',
    transform: (_code, id) => (id.endsWith('/src/theme.css') ? convertCssVariables(variables, ':root') : null),
  };
}
