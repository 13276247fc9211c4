// Stub: a topic is its last value, and how often it was published.
#pragma once

template <class T> struct orb_topic {
  static inline T value{};
  static inline unsigned generation = 0;
};

struct orb_id {
  const void *value;
  const unsigned *generation;
};

#define ORB_ID(name) orb_id{&orb_topic<name##_s>::value, &orb_topic<name##_s>::generation}

namespace uORB {
class Subscription {
public:
  explicit Subscription(orb_id id) : _id(id) {}
  template <class T> bool update(T *to) {
    const bool is_new = _seen != *_id.generation;
    _seen = *_id.generation;
    if (is_new) {
      *to = *static_cast<const T *>(_id.value);
    }
    return is_new;
  }

private:
  orb_id _id;
  unsigned _seen = 0;
};
} // namespace uORB
