import { createTheme } from '@mantine/core';

/** No animation, so that requested content appears at once. */
const still = { duration: 0 };
/** To lock scrolling, Mantine would write an inline style, which the Content Security Policy blocks. */
const overPage = {
  lockScroll: false,
  closeButtonProps: { 'aria-label': 'Close' },
  transitionProps: still,
  overlayProps: { backgroundOpacity: 0.4 },
};

/** The primary colour. In both themes, its contrast with white meets WCAG 1.4.3, as a fill and as text. */
const ink = [
  ...['#eceefc', '#d9ddf8', '#b3bbf0', '#8c98e7', '#6a79de'],
  ...['#5262d6', '#4656cd', '#3d4ec6', '#3443b0', '#2a378f'],
] as const;

/** For actions that stop or deny, with white text. */
const red = [
  ...['#fce9ec', '#f8d0d7', '#f0a3b0', '#e77388', '#dd4a67'],
  ...['#bf2349', '#b91c44', '#b4123f', '#96103a', '#7a0d2f'],
] as const;

const sansSerif = "'Inter', 'Inter Fallback', system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const monospace = "'JetBrains Mono', ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, monospace";

export const theme = createTheme({
  primaryColor: 'ink',
  colors: { ink, red },
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: sansSerif,
  fontFamilyMonospace: monospace,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  components: {
    Modal: { defaultProps: overPage },
    Drawer: { defaultProps: overPage },
    // With this role, a dialog over another dialog does not give the page two banners.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    Menu: { defaultProps: { transitionProps: still } },
  },
});
