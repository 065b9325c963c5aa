import { createHash } from 'node:crypto';
import { errorCodes, type ErrorEnvelope } from '@countersign/contracts';
import { prepared, type Prepared } from './answer.ts';
import { html, Html } from './html.ts';

type Page = {
  title: string;
  body: Html;
  status?: number;
  headers?: Record<string, string>;
  /** The address of the page's own script, which may call its own origin. Without it, no script runs. */
  script?: string;
  /** The seconds after which the page reloads, because its content expires. */
  reloadSeconds?: number;
};

/** The answer of a route whose media is `html`. */
export function page({ status = 200, headers = {}, ...content }: Page): Prepared {
  const ran: Record<string, string> = content.script === undefined ? {} : { 'content-security-policy': scriptPolicy };
  return prepared(status, documentText(content), { ...headers, ...ran });
}

/** Redirects the browser to another page of the same service, by GET. */
export function seeOther(location: string, headers: Record<string, string> = {}): Prepared {
  return prepared(303, '', { ...headers, location });
}

/** The page that replaces a JSON error on a page route. */
export function errorPage({ error }: ErrorEnvelope): string {
  const code = Object.entries(errorCodes).find(([name]) => name === error.code);
  const body = html`<h1>${error.message}</h1>
    <p>${code?.[1].nextStep ?? null}</p>
    <p class="quiet">${error.code}, request ${error.request_id}</p>`;
  return documentText({ title: error.message, body });
}

/**
 * Identifies a page's own style by its hash, so that no other style applies. Nothing else is loaded, run, framed or
 * sent elsewhere.
 */
export function pagePolicy(): string {
  return policy;
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
pre { margin: 0; padding: .5rem; border: 1px solid; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: isolate; }
label { display: block; margin-top: 1rem; font-weight: 600; }
input, textarea { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; }
button { margin: 1rem .5rem 0 0; padding: .5rem 1.5rem; font: inherit; }
.notice { border-left: .3rem solid; padding-left: .7rem; font-weight: 600; }
.quiet { opacity: .7; font-size: .9rem; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
const scriptPolicy = `${policy}; script-src 'self'; connect-src 'self'`;
const styleElement = new Html(`<style>${style}</style>`);

function documentText({ title, body, reloadSeconds, script }: Omit<Page, 'status' | 'headers'>): string {
  const reload = reloadSeconds === undefined ? null : html`<meta http-equiv="refresh" content="${reloadSeconds}" />`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${reload}
        <title>${title} · Countersign</title>
        ${styleElement} ${script === undefined ? null : html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.text;
}
