import { showDocs } from '@countersign/contracts';
import { openApiText, type ServiceName } from '@countersign/contracts/openapi';
import type { Prepared } from './answer.ts';
import { handlePublic, type Endpoint } from './endpoint.ts';
import { html, type Html } from './html.ts';
import { page } from './page.ts';

type Operation = {
  operationId: string;
  summary: string;
  security: Record<string, unknown>[];
  parameters: { in: string; name: string; required: boolean }[];
  requestBody?: object;
  responses: Record<string, { description: string }>;
};
type Document = {
  info: { title: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

type Described = Operation & { method: string; path: string };

/** `GET /docs`: the OpenAPI description as a page, generated at the first request. The page loads and runs nothing. */
export function docsEndpoint(service: ServiceName): Endpoint {
  let written: Prepared | null = null;
  return handlePublic(showDocs)(() => (written ??= docsPage(service)));
}

function docsPage(service: ServiceName): Prepared {
  const { info, paths, components } = JSON.parse(openApiText(service)) as Document; // our own text
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  const schemas = Object.entries(components.schemas);
  const body = html`<h1>${info.title}</h1>
    <p>${info.description} The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>
    <ul>
      ${operations.map(lineOf)}
    </ul>
    ${operations.map(sectionOf)}
    <h2>Schemas</h2>
    ${schemas.map(([name, schema]) => schemaOf(name, schema))}`;
  return page({ title: info.title, body });
}

function lineOf({ operationId, method, path, summary }: Described): Html {
  return html`<li><a href="#${operationId}">${method} ${path}</a>: ${summary}</li> `;
}

function sectionOf({ operationId, method, path, summary, security, ...statement }: Described): Html {
  const callers = security.map((way) => Object.keys(way).join(' and ')).join(', or ');
  return html`<h2 id="${operationId}">${method} ${path}</h2>
    <p>${summary}</p>
    <dl>
      <dt>Credential</dt>
      <dd>${callers === '' ? 'none' : callers}</dd>
      ${statement.parameters.map((parameter) => parameterOf(parameter))}
      ${Object.entries(statement.responses).map(
        ([status, { description }]) =>
          html`<dt>${status}</dt>
            <dd>${description}</dd> `,
      )}
    </dl>
    ${statement.requestBody === undefined ? null : detailsOf('Request', statement.requestBody)}
    ${detailsOf('Answers', statement.responses)}`;
}

function parameterOf({ in: place, name, required }: Operation['parameters'][number]): Html {
  return html`<dt>${name}</dt>
    <dd>in the ${place}${required ? ', required' : ''}</dd> `;
}

function detailsOf(title: string, described: object): Html {
  return html`<details>
    <summary>${title}</summary>
    ${linksOf(described)}
    <pre>${pretty(described)}</pre>
  </details> `;
}

function schemaOf(name: string, schema: object): Html {
  return html`<h3 id="schema-${name}">${name}</h3>
    ${linksOf(schema)}
    <pre>${pretty(schema)}</pre> `;
}

/** Links to the referenced schemas. */
function linksOf(described: object): Html {
  const names = [...JSON.stringify(described).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    (match) => match[1] ?? '',
  );
  return html`${[...new Set(names)].map((name) => html`<a href="#schema-${name}">${name}</a> `)}`;
}

/** Printed line by line, since other whitespace would be escaped. */
function pretty(value: object): Html {
  return html`${JSON.stringify(value, null, 1)
    .split('\n')
    .map((line) => html`${line}<br />`)}`;
}
