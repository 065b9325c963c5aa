import { convertCssVariables, defaultCssVariablesResolver, DEFAULT_THEME, mergeMantineTheme } from '@mantine/core';
import type { Plugin } from 'vite';
import { theme } from '../src/theme.ts';

/**
 * Writes the variables of the theme into a style sheet at build time. At run time Mantine would write them inline,
 * which the Content Security Policy blocks.
 */
export function themeStyles(): Plugin {
  const variables = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
  return {
    name: 'theme-styles',
    enforce: 'pre',
    transform: (_code, id) => (id.endsWith('/src/theme.css') ? convertCssVariables(variables, ':root') : null),
  };
}
