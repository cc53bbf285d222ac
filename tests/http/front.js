// front.js PORT CERTIFICATE KEY: stands with TLS, in HTTP/2 and HTTP/1.1, before the plain server on 127.0.0.1:PORT,
// and hands on what is asked and answered, breaks included. Prints where it listens. A part of the path says what it
// does by itself:
//   /version   answers with the version of HTTP
//   /goaway    breaks off the connection with GOAWAY behind the first piece of the body; other streams with it
//   /farewell  tells the client, behind the first piece, to come with nothing more on this connection, and goes on
//   /refuse    refuses the stream before anything was done
'use strict'
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')

const [port, certificate, key] = process.argv.slice(2)
const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'host']

function headersOf(message) {
  return Object.fromEntries(
    Object.entries(message.headers).filter(([name]) => name[0] !== ':' && !ofConnection.includes(name)))
}

function breakOff(response) {
  if (response.stream) response.stream.close(NGHTTP2_INTERNAL_ERROR)
  else response.destroy()
}

function sayGoodbye(request) {
  const { session } = request.stream
  if (request.url.includes('/farewell')) session.goaway(NGHTTP2_NO_ERROR)
  if (!request.url.includes('/goaway')) return
  session.goaway(NGHTTP2_INTERNAL_ERROR)
  session.destroy()
}

function handOn(request, response) {
  const plain = http.request(
    { host: '127.0.0.1', port, method: request.method, path: request.url, headers: headersOf(request), agent: false })
  plain.on('response', (reply) => {
    response.writeHead(reply.statusCode, headersOf(reply))
    reply.once('data', () => setImmediate(sayGoodbye, request))
    reply.on('error', () => breakOff(response))
    reply.pipe(response)
  })
  plain.on('error', () => breakOff(response))
  response.on('close', () => plain.destroy())
  request.pipe(plain)
}

const server = http2.createSecureServer(
  { cert: fs.readFileSync(certificate), key: fs.readFileSync(key), allowHTTP1: true })
server.on('request', (request, response) => {
  if (request.url.endsWith('/version')) response.end(request.httpVersion)
  else if (request.url.includes('/refuse')) request.stream.close(NGHTTP2_REFUSED_STREAM)
  else handOn(request, response)
})
server.on('sessionError', () => {})
server.on('tlsClientError', () => {})
server.listen(0, '127.0.0.1', () => console.log(`ACCEPT 127.0.0.1:${server.address().port}`))
setTimeout(() => process.exit(1), 120000).unref()
