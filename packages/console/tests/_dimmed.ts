/** Selects what the style sheet dims as old data. */
export const dimmed = '.old-start ~ :is(article, dl, div, form, nav, ol, p, section, ul):not(.old-end ~ *)';
