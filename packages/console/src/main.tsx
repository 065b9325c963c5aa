import './without-eval.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { forgetSession } from './api/clients.ts';
import { createQueries } from './api/queries.ts';
import { followEscape } from './api/presence.ts';
import { createConsoleRouter } from './router.tsx';
import './styles.ts';
import { theme } from './theme.ts';

const queries = createQueries(() => {
  forgetSession();
  const { href, pathname } = router.state.location;
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: { back: href }, replace: true });
});
const router = createConsoleRouter(queries);

followEscape(window);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
