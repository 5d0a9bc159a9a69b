import { NextResponse, type NextRequest } from 'next/server';

/**
 * A fresh nonce for every page. Scripts run only with it, or when started by one that has it; nothing else is loaded from
 * anywhere but here, and nobody may frame the board.
 */
function policy(nonce: string): string {
  const dev = process.env.NODE_ENV === 'development';
  return [
    `default-src 'self'`,
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${dev ? ` 'unsafe-eval'` : ''}`,
    `style-src 'self' ${dev ? `'unsafe-inline'` : `'nonce-${nonce}'`}`,
    // Layouts of graphs are computed beside the page; a worker cannot have the page's nonce.
    `worker-src 'self'`,
    `img-src 'self' data:`,
    `font-src 'self'`,
    `connect-src 'self'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}

export function proxy(request: NextRequest): NextResponse {
  const nonce = btoa(crypto.randomUUID());
  const csp = policy(nonce);
  const headers = new Headers(request.headers);
  headers.set('x-nonce', nonce);
  headers.set('content-security-policy', csp);
  // The login stands outside the frame, which follows the board.
  headers.set('x-login', request.nextUrl.pathname === '/login' ? '1' : '0');
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('content-security-policy', csp);
  return response;
}

export const config = {
  matcher: [{ source: '/((?!api/|_next/static|_next/image|icon.svg).*)' }],
};
