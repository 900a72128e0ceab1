# A small client in Ruby 3, and what a test does with it. SANDBOX is the origin of a sandbox, KEY an API key.
# For https with a certificate of the sandbox's own, name its file in SSL_CERT_FILE.
require 'json'
require 'net/http'

ORIGIN = ENV.fetch('SANDBOX', 'http://127.0.0.1:7357')
KEY = ENV.fetch('KEY', 'test-ruby')
PHONE = '420777000101'

def call(method, path, body = nil)
  uri = URI(ORIGIN + path)
  request = Net::HTTP.const_get(method.capitalize).new(uri, 'x-api-key' => KEY, 'content-type' => 'application/json')
  request.body = JSON.generate(body) if body
  answer = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }
  JSON.parse(answer.body).merge('status' => answer.code.to_i)
end

# The client: what an application calls.
def send_message(to, body)
  call('POST', '/v2/message', { body: body, to: to.map { |number| { phone_number: number } } })
end

def start_validation(number)
  call('POST', '/v1/validations', { phoneNumber: number })
end

def verify(token, code)
  call('POST', "/v1/validations/#{token}/verify", { code: code })
end

# The test: it opens a world, moves its clock, and looks at what came.
world = "/_sandbox/worlds/#{KEY}"
call('POST', '/_sandbox/worlds', { id: KEY, clock: { mode: 'manual' } })

sent = send_message([PHONE], 'Hello from Ruby')
puts "send: #{sent['status']}, #{sent['accepted'].length} accepted"
call('POST', "#{world}/clock/advance", { by: '1m' })
events = call('GET', "#{world}/hook")['events']
puts "webhooks: #{events.map { |event| event['result'] }.join(' ')}"
status = call('GET', "/v1/message?id=#{sent['accepted'][0]['message_id']}")
puts "status: #{status['message']['status_info']}"

puts "without a recipient: #{send_message([], 'Hello')['status']}"

token = start_validation(PHONE)['token']
code = call('GET', "#{world}/codes?phone=#{PHONE}")['codes'][0]['code']
wrong = verify(token, code == '000000' ? '000001' : '000000')
puts "wrong code: #{wrong['status']} #{wrong['error']}"
right = verify(token, code)
puts "right code: #{right['status']} #{right['phoneNumber']}"

call('DELETE', world)
