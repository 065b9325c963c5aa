import { createTheme } from '@mantine/core';

/** Without an animation, so that what a person asked for is there at once. */
const still = { duration: 0 };
/** To lock what is behind, Mantine would write an inline style, which the policy of contents refuses. */
const overPage = {
  lockScroll: false,
  closeButtonProps: { 'aria-label': 'Close' },
  transitionProps: still,
  overlayProps: { backgroundOpacity: 0.4 },
};

/** Dark enough that white text on it, and it on white, has the contrast of WCAG 1.4.3. */
const primaryShade = { light: 8, dark: 8 } as const;

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade,
  autoContrast: true,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  components: {
    Modal: { defaultProps: overPage },
    Drawer: { defaultProps: overPage },
    // A dialog over a dialog would make two banners of one page.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    Menu: { defaultProps: { transitionProps: still } },
  },
});
