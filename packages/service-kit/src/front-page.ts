import { getOpenApi, showFrontPage } from '@countersign/contracts';
import { openApiText, type ServiceName } from '@countersign/contracts/openapi';
import { prepared } from './answer.ts';
import { handlePublic, type Endpoint } from './endpoint.ts';
import { html } from './html.ts';
import { page } from './page.ts';

type Front = {
  title: string;
  /** One sentence that describes the service. */
  what: string;
  links: readonly { path: string; says: string }[];
};

/** `GET /`: a short description for people who open the bare address. */
export function frontPageEndpoint({ title, what, links }: Front): Endpoint {
  const items = links.map(({ path, says }) => html`<li><a href="${path}">${path}</a>: ${says}</li> `);
  const body = html`<h1>${title}</h1>
    <p>${what}</p>
    <ul>
      ${items}
    </ul>
    <p>
      The documents are in the folder <code>docs</code> of the source: <code>architecture.md</code>,
      <code>decision-cycle.md</code>, <code>reference/routes.md</code>.
    </p>`;
  return handlePublic(showFrontPage)(() => page({ title, body }));
}

/** `GET /openapi.json`, generated at the first request. */
export function openApiEndpoint(service: ServiceName): Endpoint {
  let text: string | null = null;
  return handlePublic(getOpenApi)(() => prepared(200, (text ??= openApiText(service))));
}

/** The page of a port with probes only. */
export function healthPageEndpoint(service: string): Endpoint {
  return frontPageEndpoint({
    title: `${service}: health`,
    what: 'This port answers probes. The service itself listens on another port.',
    links: [
      { path: '/health/ready', says: 'whether it can serve requests now' },
      { path: '/health/live', says: 'whether it runs' },
    ],
  });
}
