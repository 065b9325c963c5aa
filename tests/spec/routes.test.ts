import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import { committedFiles, openApiText, routesByService } from '@countersign/contracts/openapi';
import { configurationPage } from '@countersign/local';
import { services } from '@countersign/services';
import { root } from '../architecture/repository.ts';
import { documentedRoutes, unbuiltFamilies, unbuiltRoutes, type DocumentedRoute } from './documented-routes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const builtRoutes = routesByService.flatMap(({ name, routes }) =>
  routes.map((route) => `${name} ${route.method} ${route.path} ${documentedAuth(route)}`),
);

/**
 * A webhook is public, because the signature of its body proves the sender. The documents count SCIM tokens as keys of
 * the class `commercial`. Here they have their own class, since they open nothing else (ADR 106).
 */
function documentedAuth({ auth, needsPresence, forward }: AnyRoute): string {
  if (auth === 'public' && forward?.limit === 'webhook') return 'webhook';
  if (auth === 'scim') return 'commercial';
  return auth === 'session' && needsPresence === true ? 'session_reauth' : auth;
}

const nameOf = ({ service, method, path }: DocumentedRoute) => `${service} ${method} ${path} `;

function isBuilt({ service, method, path, family }: DocumentedRoute): boolean {
  return !unbuiltFamilies.has(`${service} ${family}`) && !unbuiltRoutes.has(`${method} ${path}`);
}

describe('the page of all variables', () => {
  it('matches the schemas that read the environment', () => {
    expect(readFileSync(join(root, 'docs/reference/configuration.md'), 'utf8')).toBe(configurationPage());
  });
});

describe('contracts', () => {
  it('describe each service of the register, with its port', () => {
    const ports = routesByService.map(({ name }) => {
      const { servers } = JSON.parse(openApiText(name)) as { servers: { url: string }[] }; // an OpenAPI document
      return [name, servers.map(({ url }) => url)];
    });
    const register = services.map(({ name, ports: { main } }) => [name, [`http://127.0.0.1:${main}`]]);
    expect(Object.fromEntries(ports)).toEqual(Object.fromEntries(register));
  });

  it.each(documentedRoutes.filter(isBuilt))('contain $method $path for $auth', ({ service, method, path, auth }) => {
    expect(builtRoutes).toContain(`${service} ${method} ${path} ${auth}`);
  });

  it('contain no route of a family or list that is marked as unbuilt', () => {
    const unbuilt = documentedRoutes.filter((route) => !isBuilt(route));
    expect(unbuilt.filter((route) => builtRoutes.some((built) => built.startsWith(nameOf(route))))).toEqual([]);
    const families = new Set(documentedRoutes.map(({ service, family }) => `${service} ${family}`));
    expect([...unbuiltFamilies].filter((family) => !families.has(family))).toEqual([]);
    const places = new Set(documentedRoutes.map(({ method, path }) => `${method} ${path}`));
    expect([...unbuiltRoutes].filter((place) => !places.has(place))).toEqual([]);
  });

  it.each(routesByService)('of $name contain each operation, and each method with its path, once', ({ routes }) => {
    const operations = routes.map(({ operation }) => operation);
    const places = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`);
    expect(new Set(operations).size).toBe(operations.length);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(Object.entries(committedFiles(sha256)))('match the committed file %s', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('describe both bodies of a status that a reply and an error share', () => {
    type Described = { paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>> };
    const { paths } = JSON.parse(openApiText('governance-kernel')) as Described; // as in OpenAPI
    const refused = paths['/mcp/v1/execute']?.['post']?.responses['403'];
    const anyOf = ['McpExecution', 'ErrorEnvelope'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    expect(refused?.content).toEqual({ 'application/json': { schema: { anyOf } } });
    expect(refused).toMatchObject({ headers: { 'Idempotency-Replayed': {} } });
  });
});
