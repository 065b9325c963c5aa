import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import Provider from 'oidc-provider';

export const client = { client_id: 'countersign-test', client_secret: 'client-secret-of-the-test' };

type Verify = (token: string) => Promise<{ clientId: string; expiresAt: number }>;

/** A real MCP server of SDK version 1 whose endpoint requires an access token. */
function protectedServer(verify: Verify) {
  const app = express();
  const seen: string[] = [];
  const calls: string[] = [];
  const verifyAccessToken = async (token: string) => {
    seen.push(token);
    return { token, scopes: [], ...(await verify(token)) };
  };
  app.post('/mcp', requireBearerAuth({ verifier: { verifyAccessToken } }), express.json(), (req, res) => {
    const server = new McpServer({ name: 'protected', version: '1' });
    server.registerTool('act', { description: 'Acts.', annotations: { readOnlyHint: true } }, () => {
      calls.push('act');
      return { content: [{ type: 'text', text: 'done' }] };
    });
    const transport = new StreamableHTTPServerTransport({});
    res.on('close', () => void server.close());
    void server.connect(transport as never).then(() => transport.handleRequest(req, res, req.body)); // the types of the SDK predate exactOptionalPropertyTypes
  });
  app.get('/mcp', (_req, res) => void res.status(405).end());
  return { app, seen, calls };
}

async function listening(http: Server): Promise<string> {
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port');
  return `http://127.0.0.1:${address.port}`;
}

function closing(http: Server): Promise<unknown> {
  http.closeAllConnections();
  return new Promise((resolve) => http.close(resolve));
}

/** Starts a protected server with the SDK's authorization server. Each refresh token can be used once. */
export async function startRefreshedServer() {
  const live = new Map<string, number>();
  const state = { refreshToken: 'refresh-token-of-the-test', refreshes: 0, reused: 0 };
  const provider: OAuthServerProvider = {
    clientsStore: { getClient: () => ({ ...client, redirect_uris: [] }) },
    authorize: () => Promise.reject(new Error('no person signs in')),
    challengeForAuthorizationCode: () => Promise.reject(new Error('there are no codes')),
    exchangeAuthorizationCode: () => Promise.reject(new Error('there are no codes')),
    exchangeRefreshToken: (_client, token) => {
      if (token !== state.refreshToken) {
        state.reused += 1;
        return Promise.reject(new InvalidGrantError(`the refresh token ${token} was used before`));
      }
      state.refreshes += 1;
      state.refreshToken = randomBytes(16).toString('hex');
      const access = `access-${randomBytes(16).toString('hex')}`;
      live.set(access, Date.now() / 1_000 + 3_600);
      return Promise.resolve({
        ...{ access_token: access, token_type: 'bearer', expires_in: 3_600, refresh_token: state.refreshToken },
      });
    },
    verifyAccessToken: () => Promise.reject(new Error('unused')),
  };
  const { app, seen, calls } = protectedServer((token) => {
    const expiresAt = live.get(token);
    if (expiresAt === undefined) return Promise.reject(new InvalidTokenError('unknown token'));
    return Promise.resolve({ clientId: client.client_id, expiresAt });
  });
  const http = createServer(app);
  const origin = await listening(http);
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), tokenOptions: { rateLimit: false } }));
  return {
    ...{ url: `${origin}/mcp`, tokenUrl: `${origin}/token`, state, seen, calls },
    /** Invalidates all access tokens. */
    endTokens: () => live.clear(),
    close: () => closing(http),
  };
}

/** Starts a protected server with the certified authorization server `oidc-provider` and client credentials. */
export async function startClientCredentialsServer() {
  const issuerHttp = createServer((req, res) => void issuer.callback()(req, res));
  const origin = await listening(issuerHttp);
  const issuer = new Provider(origin, {
    clients: [
      {
        ...{ ...client, redirect_uris: [], response_types: [], grant_types: ['client_credentials'] },
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'mcp', accessTokenFormat: 'opaque', accessTokenTTL: 600 }),
      },
    },
    scopes: ['mcp'],
  });
  const { app, seen, calls } = protectedServer(async (token) => {
    const found = await issuer.ClientCredentials.find(token);
    if (found?.clientId === undefined || found.aud !== url) throw new InvalidTokenError('unknown token');
    return { clientId: found.clientId, expiresAt: found.exp ?? 0 };
  });
  const http = createServer(app);
  const url = `${await listening(http)}/mcp`;
  return {
    ...{ url, tokenUrl: `${origin}/token`, seen, calls },
    endTokens: async () => {
      for (const token of seen) await (await issuer.ClientCredentials.find(token))?.destroy();
    },
    close: () => Promise.all([closing(http), closing(issuerHttp)]),
  };
}
